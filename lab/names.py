"""Names of labs and nodes: they become folders, host names and words of command lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from margrave.errors import Conflict, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def checked(name: str, what: str) -> str:
    """The name itself, or Refused with the rule."""
    if not _LABEL.fullmatch(name):
        raise Refused(
            f'{what}: "{name}" is not a name',
            "small letters a-z, digits and inner dashes, 63 at most",
        )
    return name


def wanted(existing: Iterable[str], named: Iterable[str], count: int | None) -> list[str]:
    """The nodes a lab should have: those there are, those named, and new ones up to the count.

    A lab that would be empty gets three, the smallest fleet that shows a canary and the rest.
    """
    names = list(dict.fromkeys([*existing, *(checked(one, "node") for one in named)]))
    if count is not None and count < 1:
        raise Refused(f"{count} nodes is not a lab", "ask for at least one: --nodes 3")
    missing = (count if count is not None else 0 if names else 3) - len(names)
    number = 0
    while missing > 0:
        number += 1
        if f"node-{number}" not in names:
            names.append(f"node-{number}")
            missing -= 1
    return names


def only_one(node: str, labs: Iterable[str]) -> str:
    """The one lab that has the node."""
    found = list(labs)
    if len(found) > 1:
        raise Conflict(f'node "{node}" is in the labs {", ".join(found)}', "say which: --name LAB")
    return found[0]
