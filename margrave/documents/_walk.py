"""Parts of a value by their place, for rules that must hold also when other parts are misshapen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Path = tuple[str | int, ...]

# Stands for every key of a mapping and every index of a list.
EACH: Final = object()


def walk(value: Any, *keys: object, base: Path = ()) -> list[tuple[Path, Any]]:
    """Each part at the keys with its place; what is not shaped so is passed over."""
    found = [(base, value)]
    for key in keys:
        found = [((*path, step), below) for path, one in found for step, below in _steps(one, key)]
    return found


def texts(value: Any, *keys: object, base: Path = ()) -> Iterator[tuple[Path, str]]:
    """The same, where the part is text."""
    for path, found in walk(value, *keys, base=base):
        if isinstance(found, str):
            yield path, found


def part(value: Any, path: Sequence[object]) -> Any:
    """The part at the path, or None."""
    return next((found for _, found in walk(value, *path)), None)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def repeated(found: Iterator[tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    """The texts that stood before, at their later places."""
    seen: set[str] = set()
    for path, text in found:
        if text in seen:
            yield path, text
        seen.add(text)


def _steps(value: Any, key: object) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        if key is EACH:
            return value.items()
        return ((key, value[key]),) if isinstance(key, str) and key in value else ()
    if isinstance(value, list):
        if key is EACH:
            return enumerate(value)
        return ((key, value[key]),) if isinstance(key, int) and 0 <= key < len(value) else ()
    return ()
