"""A whole database copied into another one: out of a server into a file, and back.

The copy goes through the mapped types, so it is the same for both databases: a backup of either can
be brought back into either, which is also how a small fleet moves from SQLite to PostgreSQL. The
server's own dump would be quicker, and tied to its programs, versions and rights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import Integer, func, insert, select, text

from controller.store.columns import Base

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

ROWS: Final = 500  # at once: an archive of a component may have a megabyte


def copy(source: Connection, target: Connection) -> None:
    """All rows, in an order that no reference minds; the target is empty."""
    for table in Base.metadata.sorted_tables:
        own = [column for column in table.columns if column.computed is None]
        found = source.execution_options(yield_per=ROWS).execute(select(*own))
        for part in found.mappings().partitions(ROWS):
            target.execute(insert(table), [dict(row) for row in part])


def empty(target: Connection) -> None:
    """Take every row away; PostgreSQL only."""
    names = ", ".join(f'"{table.name}"' for table in Base.metadata.sorted_tables)
    target.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))


def count_on(target: Connection) -> None:
    """Let each number that the server gives continue behind the rows that were copied."""
    for table in Base.metadata.sorted_tables:
        column = _numbered(table)
        if column is not None:
            newest = target.scalar(select(func.max(table.c[column]))) or 0
            sequence = func.pg_get_serial_sequence(table.name, column)
            target.execute(select(func.setval(sequence, newest + 1, False)))


def _numbered(table: Table) -> str | None:
    keys = list(table.primary_key.columns)
    if len(keys) == 1 and isinstance(keys[0].type, Integer) and keys[0].autoincrement is True:
        return keys[0].name
    return None
