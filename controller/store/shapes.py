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
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
