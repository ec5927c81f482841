"""How values look in what the store gives back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def stamp(at: datetime) -> str: ...
@overload
def stamp(at: None) -> None: ...


def stamp(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the millisecond."""
    if at is None:
        return None
    own = at if at.tzinfo is UTC else at.astimezone(UTC)
    return own.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"
