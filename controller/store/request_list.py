"""Lists of requests: a page of them takes little memory, however many sites each concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import defer

from controller.store import requests
from controller.store.models import Request, RequestDeployment
from controller.store.words import RequestState
from margrave.errors import DocumentError
from margrave.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

Row = tuple[tuple[int], dict[str, Any]]
Sites = frozenset[str] | None  # those that somebody may see; None is all

MOST_DEPLOYMENTS: Final = 20  # of each request in a list
# They grow with the sites of a request: a plan for a thousand sites has megabytes.
_LARGE: Final = (Request.plan, Request.body, Request.change)


def listing(
    session: Session,
    now: datetime,
    *,
    after: int | None = None,
    limit: int = 50,
    state: str | None = None,
    only: Sites = None,
) -> list[Row]:
    """Return requests, newest first, with the key of each; `only` what concerns these sites."""
    query = select(Request).order_by(Request.number.desc()).limit(limit)
    query = query.options(*(defer(column, raiseload=True) for column in _LARGE))
    if after is not None:
        query = query.where(Request.number < after)
    if state is not None:
        query = query.where(Request.state.in_([_state(word) for word in state.split(",")]))
    if only is not None:
        theirs = select(RequestDeployment.request).where(RequestDeployment.site.in_(only))
        query = query.where(Request.number.in_(theirs))
    rows = session.scalars(query).all()
    totals = _totals(session, rows, only)
    return [
        (
            (row.number,),
            requests.shape(
                session, row, now, _first_concerned(session, row, only), totals[row.number], None
            ),
        )
        for row in rows
    ]


def _totals(session: Session, rows: Sequence[Request], only: Sites) -> dict[int, int]:
    """Return how many deployments each request concerns, at these sites."""
    if only is None:
        return {row.number: row.documents for row in rows}
    query = (
        select(RequestDeployment.request, func.count().label("total"))
        .where(
            RequestDeployment.request.in_([row.number for row in rows]),
            RequestDeployment.site.in_(only),
        )
        .group_by(RequestDeployment.request)
    )
    return {row.request: row.total for row in session.execute(query)}


def _first_concerned(session: Session, row: Request, only: Sites) -> list[dict[str, str]]:
    query = (
        select(RequestDeployment.deployment, RequestDeployment.site)
        .where(RequestDeployment.request == row.number)
        .order_by(RequestDeployment.site, RequestDeployment.deployment)
        .limit(MOST_DEPLOYMENTS)
    )
    if only is not None:
        query = query.where(RequestDeployment.site.in_(only))
    return [{"id": deployment, "site": site} for deployment, site in session.execute(query)]


def _state(word: str) -> RequestState:
    words = [state.value for state in RequestState]
    if word not in words:
        raise DocumentError([Finding("/state", f'"{word}" is not one', did_you_mean(word, words))])
    return RequestState(word)
