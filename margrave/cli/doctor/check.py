"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from margrave import __version__


@dataclass(frozen=True, slots=True)
class Check:
    """`where` is the part looked at; `cure` is empty when all is well."""

    where: str
    name: str
    ok: bool
    detail: str
    cure: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def good(where: str, name: str, detail: str) -> Check:
    """Nothing to do."""
    return Check(where, name, ok=True, detail=detail)


def bad(where: str, name: str, detail: str, cure: str) -> Check:
    """Wrong, and what mends it."""
    return Check(where, name, ok=False, detail=detail, cure=cure)


def same_version(where: str, other: str) -> Check:
    """One minor version apart is served; more is not promised."""
    mine, theirs = (_minor(one) for one in (__version__, other))
    if mine[0] != theirs[0] or abs(mine[1] - theirs[1]) > 1:
        detail = f"{other}, and this command is {__version__}"
        return bad(where, "version", detail, "bring the older one up to date")
    return good(where, "version", other)


def _minor(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)
