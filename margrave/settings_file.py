"""Where a process finds its configuration, read through the path objects that it hands in."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from margrave import settings
from margrave.errors import MargraveError, SettingsError
from margrave.sections import absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from pathlib import Path

    from margrave.findings import Finding

FILE_NAME = "margrave.toml"
OURS = "MARGRAVE_"
_SECRETS = re.compile(r"^\s*(token|password|client_secret|secrets)\s*=", re.MULTILINE)
Schema = TypeVar("Schema", bound=BaseModel)


def find(explicit: str | None, here: Path) -> Path:
    """The file that `--config` names, else margrave.toml in this folder, else the system's."""
    if explicit:
        return here / explicit
    own, system = here / FILE_NAME, here / "/etc/margrave" / FILE_NAME
    return own if own.is_file() or not system.is_file() else system


def forget(environ: MutableMapping[str, str]) -> None:
    """Take our variables out of a process's environment, once it has read them.

    They hold tokens and passwords, and whatever a server starts (git, ssh, and what these start)
    would inherit them: the library that runs git hands all of the environment on.
    """
    for name in [one for one in environ if one.startswith(OURS)]:
        del environ[name]


def ours(environ: Mapping[str, str]) -> dict[str, str]:
    """Return our own variables of an environment."""
    return {name: value for name, value in environ.items() if name.startswith(OURS)}


def exposed(path: Path) -> str:
    """Return a warning where a file that holds secrets is open to every user; else nothing."""
    try:
        is_open = path.stat().st_mode & stat.S_IROTH
        if not is_open or not _SECRETS.search(path.read_text(encoding="utf-8")):
            return ""
    except (OSError, UnicodeDecodeError):
        return ""
    return f"{path} holds secrets, and every user of this machine can read it: chmod 600 {path}"


def load(
    schema: type[Schema],
    path: Path,
    environ: Mapping[str, str],
    problems: Callable[[Schema, str], list[Finding]],
    cure: str,
) -> Schema:
    """The settings with paths made absolute from the file's folder, or SettingsError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MargraveError(f"{path}: cannot be read: {error.strerror}", cure) from error
    except UnicodeDecodeError as error:
        raise MargraveError(f"{path}: is not UTF-8 text, so no configuration", cure) from error
    base = path.resolve().parent
    loaded = settings.load(
        schema, text, environ, lambda name: (base / name).read_text(encoding="utf-8"), str(path)
    )
    complete = absolute(loaded, base)
    findings = problems(complete, str(path))
    if findings:
        raise SettingsError(findings)
    return complete
