"""The one door for what a database says when it cannot: gone, busy, full, or a value too long."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import DataError, InterfaceError, OperationalError

from margrave.errors import Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import URL

LOG = logging.getLogger(__name__)

_LOCK_TIMEOUT: Final = "55P03"  # PostgreSQL's code for a lock that was not given in time
_DISK_FULL: Final = "53100"  # PostgreSQL's word for it
# SQLite's own words: the second comes where the log beside the file has no room.
_FULL: Final = ("database or disk is full", "disk I/O error")
# What is wrong with a statement or the schema is a defect, and told as one.
_DEFECTS: Final = ("no such table", "no such column", "syntax error")


class Unfit(Refused):
    """A value that the database does not take: too long, or of characters that it has not."""


@contextmanager
def told() -> Iterator[None]:
    """Outages inside are Unreachable, so whoever asked is told to come again; a value that does not
    fit is Unfit. Nothing is kept of the transaction."""
    try:
        yield
    except (DataError, UnicodeEncodeError) as error:
        words = str(error.orig if isinstance(error, DataError) else error).strip()
        raise Unfit(f"the database does not take it: {words}", "write it shorter") from error
    except (OperationalError, InterfaceError) as error:
        words = str(error.orig)
        if any(one in words for one in _DEFECTS):
            raise
        LOG.warning("the database: %s", words.strip())
        raise _unreachable(error, words) from error


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Raise outages inside as Unreachable with the database's own words.

    For commands on the controller's machine, whose user looks after the database.
    """
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        words = " ".join(str(error.orig).split())
        if any(defect in words for defect in _DEFECTS):
            raise
        place = f"the database {url.render_as_string(hide_password=True)}"
        cure = "see that it runs, and that database.url names it, its user and password"
        raise Unreachable(f"{place}: {words}", cure) from error


def _unreachable(error: OperationalError | InterfaceError, words: str) -> Unreachable:
    full = getattr(error.orig, "sqlstate", None) == _DISK_FULL
    if full or any(one in words for one in _FULL):
        return Unreachable("the disk of the database is full", "make room there and try again")
    if "locked" in words or getattr(error.orig, "sqlstate", None) == _LOCK_TIMEOUT:
        return Unreachable("the database is busy", "try again in a moment")
    return Unreachable("the database does not answer", "see the log, and try again")
