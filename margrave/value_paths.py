"""Where a chart's values are set: `web.ports[0].number`, with a backslash before a key's own dot.

Helm's own way of writing it. The node makes the tree; here a path that no tree can have is found
before anything is published.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Step = str | int

_STEP: Final = re.compile(r"((?:[^.\[\]\\]|\\.)+)((?:\[\d{1,3}\])*)(?:\.|$)")


def steps(path: str) -> tuple[Step, ...]:
    """Keys and places of a path, or nothing when it is not one."""
    found: list[Step] = []
    place = 0
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None or (match.end() == len(path) and path.endswith(".")):
            return ()
        found.append(re.sub(r"\\(.)", r"\1", match[1]))
        found += [int(number) for number in re.findall(r"\d+", match[2])]
        place = match.end()
    return tuple(found)


def clashes(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each path with an earlier one beside which it cannot stand: the same, one below the other,
    or a list where the other has keys."""
    seen: list[tuple[str, tuple[Step, ...]]] = []
    for path in paths:
        mine = steps(path)
        if not mine:
            continue
        other = next((one for one, theirs in seen if _clash(mine, theirs)), None)
        if other is not None:
            yield path, other
        seen.append((path, mine))


def _clash(one: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    for mine, theirs in zip(one, other, strict=False):
        if type(mine) is not type(theirs):
            return True
        if mine != theirs:
            return False
    return True
