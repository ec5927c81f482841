"""Queries of the reports' line: how far each runner has come, and what could not be read."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError, StatementError

from controller.store import totals
from controller.store.models import RejectedReport, ReportCursor
from controller.store.totals import Counted
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy.orm import Session

LOG = logging.getLogger(__name__)

BODY_KEPT = 64 * 1024  # characters of a rejected event: enough to find the fault


@dataclass(frozen=True, slots=True)
class Line:
    """One line of reports: a runner in one of its epochs."""

    site: str
    runner: str
    epoch: int


def expected(session: Session, line: Line) -> int:
    """The sequence number that comes next; 1 for a new line."""
    row = session.get(ReportCursor, (line.site, line.runner, line.epoch))
    return row.next_seq if row else 1


def advance(session: Session, line: Line, next_seq: int, now: datetime) -> None:
    """Note how far the line has come."""
    row = session.get(ReportCursor, (line.site, line.runner, line.epoch))
    if row is None:
        row = ReportCursor(site=line.site, runner=line.runner, epoch=line.epoch)
        session.add(row)
    row.next_seq, row.updated_at = next_seq, now


def attempt(session: Session, step: Callable[[], None]) -> str:
    """Do a step that is undone when it fails for its values; return why, or an empty text.

    A database that is ill itself raises: what it cannot take now it may take in a minute.
    """
    try:
        with session.begin_nested():
            step()
    except (IntegrityError, DataError) as error:
        return f"the database refuses it: {error.orig}"
    except StatementError as error:
        if isinstance(error.orig, ValueError | TypeError | OverflowError):
            return f"the database refuses it: {error.orig}"
        raise
    except (MargraveError, SQLAlchemyError, OSError, MemoryError):
        raise
    except Exception as error:  # a defect that an event meets must not stop the events behind it
        LOG.exception("a reported event is rejected")
        return f"it meets a defect of the controller: {type(error).__name__}: {error}"
    return ""


def reject(session: Session, line: Line, seq: int, body: str, finding: str, now: datetime) -> None:
    """Keep an event that could not be read."""
    session.add(
        RejectedReport(
            site=line.site,
            runner=line.runner,
            epoch=line.epoch,
            seq=seq,
            body=body[:BODY_KEPT],
            finding=finding,
            at=now,
        )
    )
    totals.add(session, {(Counted.REJECTED, ""): 1})


def rejected(session: Session) -> int:
    """How many events could not be read."""
    return totals.of(session, Counted.REJECTED).get("", 0)
