"""Rules that profiles and parameters share, in descriptions as in deployments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from margrave.documents._walk import EACH, mapping, repeated, texts, walk
from margrave.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Compose interpolates nothing else, and Margo says that a Compose pointer names a variable.
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def component_names_once(parsed: Parsed, profile: Path) -> Iterator[Finding]:
    """A component's name is unique in its profile."""
    for path, name in repeated(texts(parsed.value, *profile, "components", EACH, "name")):
        yield parsed.finding(path, f'"{name}" stands twice', "rename one")


def target_rules(parsed: Parsed, parameters: Path, names: Set[str]) -> Iterator[Finding]:
    """Targets name components that exist."""
    if not names:
        return  # what is wrong then is the components, not each name of them
    keys = (*parameters, EACH, "targets", EACH, "components", EACH)
    for path, name in texts(parsed.value, *keys):
        if name not in names:
            cure = did_you_mean(name, names)
            yield parsed.finding(path, f'no component is called "{name}"', cure)


def pointer_rules(parsed: Parsed, parameters: Path, compose: Set[str]) -> Iterator[Finding]:
    """What is to reach a Compose component has the name of an environment variable."""
    for path, target in walk(parsed.value, *parameters, EACH, "targets", EACH):
        pointer, components = mapping(target).get("pointer"), mapping(target).get("components")
        if not isinstance(pointer, str) or not pointer or _VARIABLE.fullmatch(pointer):
            continue
        reached = [
            one
            for one in (components if isinstance(components, list) else ())
            if isinstance(one, str) and one in compose
        ]
        if reached:
            word = re.sub(r"[^A-Za-z0-9_]+", "_", pointer.removeprefix("ENV.")).strip("_")
            cure = f"write such as {'_' if word[:1].isdigit() else ''}{word or 'NAME'}"
            message = f'"{pointer[:60]}" is no name of an environment variable'
            yield parsed.finding((*path, "pointer"), message, cure)
