"""The queue by its numbers: who is ahead of whom, and when the turn comes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, select, tuple_

from controller.store import expected
from controller.store.expected import Published
from controller.store.models import Request
from controller.store.words import OPEN, RequestState

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

# What waits for people to merge it takes no place.
INSIDE: Final = (Request.state.in_(OPEN), Request.branch.is_(None))

LATELY: Final = 20  # of what was published last says how fast it goes
LOOKED_AT: Final = 500  # the newest requests, among which those are looked for


def waiting(session: Session) -> int:
    """How many requests are not published yet."""
    return session.scalar(select(func.count()).select_from(Request).where(*INSIDE)) or 0


def place(session: Session, row: Request, now: datetime) -> tuple[int | None, datetime | None]:
    """A request's place (the next one is 1) and when it is published; None for what has none.

    The time is unknown, too, of what went back into the queue: something else is waited for.
    """
    if row.state not in OPEN or row.branch is not None:
        return None, None
    ahead = select(func.count(), func.coalesce(func.sum(Request.documents), 0)).where(
        *INSIDE, tuple_(Request.rank, Request.number) < tuple_(row.rank, row.number)
    )
    others, documents = session.execute(ahead).one()
    number = int(others) + 1
    if row.state is RequestState.QUEUED and row.error:
        return number, None
    lasts = expected.seconds(number, int(documents) + row.documents, _lately(session))
    return number, now + timedelta(seconds=lasts)


def _lately(session: Session) -> list[Published]:
    newest = select(func.max(Request.number)).scalar_subquery()
    query = (
        select(Request.documents, Request.started_at, Request.ended_at)
        .where(
            Request.number > newest - LOOKED_AT,
            Request.state == RequestState.PUBLISHED,
            Request.branch.is_(None),
            Request.started_at.is_not(None),
        )
        .order_by(Request.number.desc())
        .limit(LATELY)
    )
    return [
        Published(documents, (ended - began).total_seconds())
        for documents, began, ended in session.execute(query)
        if began is not None and ended is not None
    ]
