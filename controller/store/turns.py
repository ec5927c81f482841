"""Order of the queue: per deployment as admitted, fair among sites, urgent requests first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, exists, func, select
from sqlalchemy.orm import aliased

from controller.store.models import Request, RequestDeployment
from controller.store.words import OPEN, RequestState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

REMEMBERED: Final = 20  # requests that were served last


def behind() -> ColumnElement[bool]:
    """Condition: an earlier open request concerns one of the same deployments.

    Numbers are given at admission, so the order of a deployment's requests is decided there and
    kept, whatever their priorities. What waits for people to merge it holds nobody back.
    """
    own, other = aliased(RequestDeployment), aliased(RequestDeployment)
    earlier = aliased(Request)
    return exists().where(
        own.request == Request.number,
        other.deployment == own.deployment,
        other.site == own.site,
        other.request < own.request,
        earlier.number == other.request,
        earlier.state.in_(OPEN),
        earlier.branch.is_(None),
    )


def _ahead(number: int) -> ColumnElement[bool]:
    """Condition: an open request that came before and concerns one of the same deployments."""
    own, other = aliased(RequestDeployment), aliased(RequestDeployment)
    earlier = (
        select(other.request)
        .join(own, (own.deployment == other.deployment) & (own.site == other.site))
        .where(own.request == number, other.request < number)
    )
    return and_(Request.number.in_(earlier), Request.state.in_(OPEN), Request.branch.is_(None))


def ahead_of(session: Session, number: int) -> list[tuple[str, dict[str, Any] | None]]:
    """Return id and error of the requests that a request waits for, oldest first."""
    query = select(Request.id, Request.error).where(_ahead(number)).order_by(Request.number)
    return [(name, error) for name, error in session.execute(query)]


def hasten(session: Session, number: int, rank: int) -> None:
    """Let all that a request waits for go as early as the request itself."""
    numbers = [number]
    while numbers:
        query = select(Request).where(_ahead(numbers.pop()), Request.rank > rank)
        for row in session.scalars(query).all():
            row.rank = rank
            numbers.append(row.number)
        session.flush()


def first_of_each(
    session: Session, but: Iterable[str], only: Collection[str] | None = None
) -> list[Request]:
    """Of the most urgent that wait, in their order, the eldest of each site.

    A site's later requests cannot be next. So a flood of one site hides nobody, however long it is;
    `but` are requests that are not due, `only` (if given) those that are ready.
    """
    due = [Request.state == RequestState.QUEUED, Request.id.not_in(list(but)), ~behind()]
    if only is not None:
        due.append(Request.id.in_(list(only)))
    rank = select(func.min(Request.rank)).where(*due).scalar_subquery()
    eldest = (
        select(func.min(Request.number))
        .join(RequestDeployment, RequestDeployment.request == Request.number, isouter=True)
        .where(*due, Request.rank == rank)
        .group_by(RequestDeployment.site)
    )
    query = select(Request).where(Request.number.in_(eldest)).order_by(Request.number)
    return list(session.scalars(query))


def pick(session: Session, waiting: Sequence[Request]) -> Request:
    """One of those that wait, in their order: of a site that was served least of late.

    What concerns the same site keeps its order: a change builds on the one before it.
    """
    if len(waiting) == 1:
        return waiting[0]
    sites = _sites(session, [row.number for row in waiting])
    served = _served(session, {site for some in sites.values() for site in some})
    before: set[str] = set()
    free = []
    for row in waiting:
        own = sites.get(row.number, set())
        if not own & before:
            free.append(row)
        before |= own
    return min(
        free,
        key=lambda row: (
            min((served[site] for site in sites.get(row.number, ())), default=0),
            row.number,
        ),
    )


def _sites(session: Session, numbers: Sequence[int]) -> dict[int, set[str]]:
    query = select(RequestDeployment.request, RequestDeployment.site).distinct()
    found: dict[int, set[str]] = {}
    for number, site in session.execute(query.where(RequestDeployment.request.in_(numbers))):
        found.setdefault(number, set()).add(site)
    return found


def _served(session: Session, sites: set[str]) -> Counter[str]:
    """How often each site was served by the newest requests that left the queue."""
    last = select(Request.number).where(Request.state.not_in(OPEN))
    last = last.order_by(Request.number.desc()).limit(REMEMBERED)
    query = select(RequestDeployment.site, func.count(RequestDeployment.request.distinct()))
    query = query.where(RequestDeployment.request.in_(last))
    rows = session.execute(query.group_by(RequestDeployment.site))
    return Counter({site: number for site, number in rows if site in sites})
