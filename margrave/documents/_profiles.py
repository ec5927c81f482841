"""Rules that profiles and parameters share, in descriptions as in deployments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from margrave import value_paths
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
    for path, pointer, names in _targets(parsed, parameters):
        if compose & set(names) and not _VARIABLE.fullmatch(pointer):
            word = re.sub(r"[^A-Za-z0-9_]+", "_", pointer.removeprefix("ENV.")).strip("_")
            cure = f"write such as {'_' if word[:1].isdigit() else ''}{word or 'NAME'}"
            message = f'"{pointer[:60]}" is no name of an environment variable'
            yield parsed.finding((*path, "pointer"), message, cure)


def value_rules(parsed: Parsed, parameters: Path, helm: Set[str]) -> Iterator[Finding]:
    """What is to reach a chart is a path of its values, and no two paths contradict each other."""
    reaching: dict[str, list[str]] = {name: [] for name in helm}
    for path, pointer, names in _targets(parsed, parameters):
        mine = [reaching[name] for name in names if name in helm]
        if mine and not value_paths.steps(pointer):
            message = f'"{pointer[:60]}" is no path of values'
            cure = r"write such as web.ports[0], \. for a dot"
            yield parsed.finding((*path, "pointer"), message, cure)
            continue
        clash = next(
            (one for known in mine for one in value_paths.clashes([*known, pointer])), None
        )
        if clash is not None:
            message = f'"{pointer[:60]}" cannot be set beside "{clash[1][:60]}"'
            yield parsed.finding((*path, "pointer"), message, "give each target a value of its own")
            continue
        for known in mine:
            known.append(pointer)


def _targets(parsed: Parsed, parameters: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Place, pointer and component names of each target that is shaped as one."""
    for path, target in walk(parsed.value, *parameters, EACH, "targets", EACH):
        pointer, components = mapping(target).get("pointer"), mapping(target).get("components")
        if isinstance(pointer, str) and pointer and isinstance(components, list):
            yield path, pointer, [one for one in components if isinstance(one, str)]
