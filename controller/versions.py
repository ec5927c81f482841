"""The order of versions: SemVer's, with `_` where Margo writes it for `+`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEMVER: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:[+_].*)?")

Order = tuple[tuple[int, int, int], tuple[tuple[int, int, str], ...], str]
# Behind every identifier that a pre-release can have, because the release itself is newer.
_RELEASE: Final = ((2, 0, ""),)


def order(version: str) -> Order:
    """A sort key, older first; what is no SemVer is older than everything."""
    found = _SEMVER.fullmatch(version)
    if found is None:
        return ((-1, -1, -1), (), version)
    numbers = (int(found[1]), int(found[2]), int(found[3]))
    if not found[4]:
        return (numbers, _RELEASE, version)
    return (numbers, tuple(_identifier(part) for part in found[4].split(".")), version)


def newest(versions: Iterable[str]) -> str | None:
    """The newest version; pre-releases only when there is nothing else; None of nothing."""
    known = sorted(versions, key=order)
    released = [version for version in known if order(version)[1] == _RELEASE]
    return (released or known)[-1] if known else None


def _identifier(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isdigit() else (1, 0, text)
