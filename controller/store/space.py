"""SQLite's file: what deleted rows leave is given back to the disk, a step at a time.

A plain VACUUM writes the whole file anew and lets nobody write meanwhile. So every page knows its
place (auto_vacuum), and the last pages are moved into the holes a few hundred at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqlalchemy import Engine

STEP: Final = 500  # pages of 4 KB: a writer waits for as long as it takes to move two megabytes
_INCREMENTAL: Final = 2


def prepare(engine: Engine) -> None:
    """Make a file able to give pages back: quick before it has tables, later it is written anew."""
    with engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        if _number(raw, "auto_vacuum") != _INCREMENTAL:
            raw.execute("PRAGMA auto_vacuum=INCREMENTAL")
            raw.execute("VACUUM")


def give_back(engine: Engine) -> int:
    """Give some free pages back; how many, 0 when none are left."""
    with engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        free = _number(raw, "freelist_count")
        if free:
            # It works while it is read, a page for a row.
            raw.execute(f"PRAGMA incremental_vacuum({STEP})").fetchall()
        given = free - _number(raw, "freelist_count")
        if not given:
            # The file itself gets shorter when the log is written into it. Whoever still reads the
            # log keeps it: then the next sweep does it.
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return given


def _number(raw: Any, pragma: str) -> int:
    return int(raw.execute(f"PRAGMA {pragma}").fetchone()[0])
