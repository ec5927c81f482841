"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


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
