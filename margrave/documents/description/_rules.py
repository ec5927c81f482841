"""What no single key of `margo.yaml` can tell; each rule speaks for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from margrave import digest
from margrave.documents import constraints
from margrave.documents._profiles import (
    component_names_once,
    pointer_rules,
    target_rules,
    value_rules,
)
from margrave.documents._reading import OURS
from margrave.documents._walk import EACH, mapping, repeated, texts, walk
from margrave.documents.description._settings import setting_rules
from margrave.errors import UnsafeArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

_PROFILES: Final = "deploymentProfiles"
_FILES: Final = ("descriptionFile", "icon", "licenseFile", "releaseNotes")
_SCALARS: Final = (str, int, float, bool)


def rules(parsed: Parsed) -> Iterator[Finding]:
    """All of them."""
    value = parsed.value
    for path, name in repeated(texts(value, _PROFILES, EACH, "id")):
        yield parsed.finding(path, f'"{name}" stands twice', "rename one")
    for path, _ in walk(value, _PROFILES, EACH):
        yield from component_names_once(parsed, path)
        yield from constraints.rules(parsed, path)
    yield from _package_rules(parsed)
    yield from _target_rules(parsed)
    for path, parameter in walk(value, "parameters", EACH):
        yield from _default_kind(parsed, (*path, "value"), mapping(parameter).get("value"))
    yield from setting_rules(parsed)


def inner(path: str) -> str:
    """A path in the package without a leading `./` and a trailing slash."""
    return path.removeprefix("./").rstrip("/")


def _package_rules(parsed: Parsed) -> Iterator[Finding]:
    """Nothing that the package names lies outside it."""
    found = texts(parsed.value, _PROFILES, EACH, "components", EACH, OURS, "path")
    for path, text in found:
        if not _is_inside(text):
            cure = "name a folder below margo.yaml, such as ./compose"
            yield parsed.finding(path, f'"{text}" leads out of the package', cure)
    for key in _FILES:
        for path, text in texts(parsed.value, "metadata", "catalog", "application", key):
            if "://" not in text and not _is_inside(text):
                cure = "name a file below margo.yaml, such as ./resources/icon.png"
                yield parsed.finding(path, f'"{text}" leads out of the package', cure)


def _is_inside(path: str) -> bool:
    try:
        digest.check_path(inner(path))
    except UnsafeArchive:
        return False
    return True


def _target_rules(parsed: Parsed) -> Iterator[Finding]:
    everywhere: set[str] = set()
    of: dict[object, set[str]] = {}
    for path, profile in walk(parsed.value, _PROFILES, EACH):
        names = {name for _, name in texts(profile, "components", EACH, "name", base=path)}
        everywhere |= names
        kind = mapping(profile).get("type")
        of.setdefault(kind if isinstance(kind, str) else None, set()).update(names)
    yield from target_rules(parsed, ("parameters",), everywhere)
    yield from pointer_rules(parsed, ("parameters",), of.get("compose", set()))
    yield from value_rules(parsed, ("parameters",), of.get("helm", set()))


def _default_kind(parsed: Parsed, path: tuple[str | int, ...], value: Any) -> Iterator[Finding]:
    """A default is text, a number, true or false, or a list of one of them."""
    if value is None or isinstance(value, _SCALARS):
        return
    if isinstance(value, list) and all(isinstance(one, _SCALARS) for one in value):
        kinds = {float if type(one) is int else type(one) for one in value}
        if len(kinds) > 1:
            yield parsed.finding(path, "is a list of several kinds", "write items of one kind")
        return
    cure = "write text, a number, true or false, or a list of them"
    yield parsed.finding(path, "is no value that a parameter can have", cure)
