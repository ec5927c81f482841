"""The runner of this machine: where its socket is, by the rules that its own commands follow."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from margrave.cli.api import Api
from margrave.errors import MargraveError, Unreachable
from margrave.sections import SOCKET, State
from margrave.settings_file import FILE_NAME

PLACES = (Path(FILE_NAME), Path("/etc/margrave") / FILE_NAME)


def connect(config: Path | None) -> Api:
    """The runner's own API, for those who may open its socket."""
    found = configured(config)
    if found is None:
        raise MargraveError("no runner's configuration here", "name it with --config FILE")
    return connect_to(found)


def connect_to(config: Path) -> Api:
    """The API of the runner with this configuration; Unreachable when none listens there."""
    socket = _state(config) / SOCKET
    if not socket.exists():
        raise Unreachable(f"no runner listens at {socket}", "margrave runner serve, or --config")
    return Api("http://runner", uds=socket, timeout=180.0)


def configured(config: Path | None) -> Path | None:
    """This configuration, else the first one found here; None when there is none."""
    return config or next((path for path in PLACES if path.is_file()), None)


def is_runners(config: Path) -> bool:
    """Whether it configures a runner: a controller's file has no site."""
    return isinstance(_read(config).get("site"), dict)


def _state(config: Path) -> Path:
    section = _read(config).get("state")
    written = section.get("dir") if isinstance(section, dict) else None
    state = os.environ.get("MARGRAVE_STATE__DIR") or str(written or State().dir)
    return (config.resolve().parent / state).resolve()


def _read(config: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise MargraveError(f"{config}: cannot be read: {error}") from error
