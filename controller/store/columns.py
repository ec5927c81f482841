"""Column types and conventions that all tables share, on SQLite and on PostgreSQL."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Enum,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy import Dialect

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Utc(TypeDecorator[datetime]):
    """Aware UTC times in, aware UTC times out; stored without a zone, so both databases agree."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To naive UTC."""
        del dialect
        if value is None:
            return None
        own = value if value.tzinfo is UTC else value.astimezone(UTC)
        return own.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To aware UTC."""
        del dialect
        return value.replace(tzinfo=UTC) if value is not None else None


class Compressed(TypeDecorator[bytes]):
    """Bytes that are stored deflated: archives and log chunks."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Deflate."""
        del dialect
        return zlib.compress(value) if value is not None else None

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Inflate."""
        del dialect
        return zlib.decompress(value) if value is not None else None


class Base(DeclarativeBase):
    """Every table; constraint names follow one convention, so migrations can name them."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {
        datetime: Utc(),
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON(none_as_null=True),
        str: String(255),
    }


def table(kind: type[Base]) -> Table:
    """The table of a mapped class, for many rows at once: the ORM's own way costs twice as much."""
    found = kind.__table__
    assert isinstance(found, Table)
    return found


def words(kind: type[StrEnum]) -> Enum:
    """A StrEnum kept as its text; unknown words are refused by SQLAlchemy, not by the database,
    so that a new word needs no migration."""
    return Enum(
        kind,
        native_enum=False,
        length=24,
        create_constraint=False,
        validate_strings=True,
        values_callable=lambda members: [member.value for member in members],
    )


# SQLite counts up only an INTEGER key, PostgreSQL wants the wide one.
Number = BigInteger().with_variant(Integer, "sqlite")
NumberKey = Annotated[int, mapped_column(Number, primary_key=True, autoincrement=True)]
Uuid = Annotated[str, mapped_column(String(36))]
Digest = Annotated[str, mapped_column(String(71))]
Commit = Annotated[str, mapped_column(String(64))]
LongText = Annotated[str, mapped_column(Text)]
