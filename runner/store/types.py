"""Column types: aware UTC times, and words of a StrEnum."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import String
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """RFC 3339 text in UTC with microseconds, so that order in SQL is order in time."""

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> str | None:
        """To text; a naive time is a defect of the caller."""
        if value is None:
            return None
        assert value.tzinfo is not None, "times are aware"
        return rfc3339(value)

    def process_result_value(self, value: Any, _dialect: Dialect) -> datetime | None:
        """Back to an aware time."""
        return None if value is None else datetime.fromisoformat(value)


class Word(TypeDecorator[StrEnum]):
    """A StrEnum's member, stored as its word."""

    impl = String(32)
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: StrEnum | str | None, _dialect: Dialect) -> str | None:
        """The word; one that is no member is a defect of the caller."""
        return None if value is None else self.words(value).value

    def process_result_value(self, value: Any, _dialect: Dialect) -> StrEnum | None:
        """Back to the member."""
        return None if value is None else self.words(value)


def rfc3339(moment: datetime) -> str:
    """One way to write a time, with microseconds and Z."""
    text = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z")
