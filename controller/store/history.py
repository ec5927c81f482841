"""Queries of the history: every transition of every placement, in the order it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from controller.store import totals
from controller.store.models import Deployment, History, Operation
from controller.store.shapes import stamp
from controller.store.totals import Counted
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

Row = tuple[tuple[int], dict[str, Any]]


def add(session: Session, deployment: int, row: Mapping[str, Any]) -> None:
    """Store a transition of the deployment with that key; `row` by column names."""
    session.execute(insert(History).values(deployment=deployment, **row))
    totals.add(session, {(Counted.TRANSITION, str(row["to_state"])): 1})


def of_deployment(
    session: Session,
    key: int,
    deployment_id: str,
    *,
    after: int | None = None,
    limit: int = 200,
    newest: bool = False,
) -> list[Row]:
    """A deployment's history, oldest first (or newest), with the key of each row."""
    query = _traced(History).where(History.deployment == key).limit(limit)
    query = query.order_by(History.id.desc() if newest else History.id)
    if after is not None:
        query = query.where(History.id < after if newest else History.id > after)
    rows = session.execute(query)
    return [((row.id,), shape(row, deployment_id, fence)) for row, fence in rows]


def failed_revisions(session: Session, deployment_id: str, site: str) -> frozenset[str]:
    """Return the revisions of a deployment that failed on a node and succeeded on none.

    History that was pruned says nothing: only what is known to have failed is among them.
    """
    rows = session.execute(
        select(History.revision, History.from_state, History.to_state)
        .join(Deployment, Deployment.key == History.deployment)
        .where(
            Deployment.id == deployment_id,
            Deployment.site == site,
            History.revision.is_not(None),
            History.to_state.in_((State.FAILED, State.INSTALLED)),
        )
        .distinct()
    ).all()
    failed = {revision for revision, _, to in rows if to is State.FAILED and revision}
    # After ROLLINGBACK the node runs the release before the one that the row names.
    begun = (State.INSTALLING, State.UPDATING)
    succeeded = {
        revision for revision, origin, to in rows if to is State.INSTALLED and origin in begun
    }
    return frozenset(failed - succeeded)


def of_operation(session: Session, operation: str) -> list[dict[str, Any]]:
    """The transitions that an operation made, oldest first."""
    query = (
        _traced(History, Deployment.id)
        .join(Deployment, Deployment.key == History.deployment)
        .where(History.operation == operation)
        .order_by(History.id)
    )
    return [shape(row, uuid, fence) for row, uuid, fence in session.execute(query)]


def newest(session: Session, keys: Sequence[int], each: int) -> dict[int, list[dict[str, Any]]]:
    """The newest transitions of several deployments, newest first, at most `each` of one."""
    place = func.row_number().over(partition_by=History.deployment, order_by=History.id.desc())
    ranked = select(History.id, place.label("place")).where(History.deployment.in_(keys)).subquery()
    query = (
        _traced(History, Deployment.id)
        .join(ranked, ranked.c.id == History.id)
        .join(Deployment, Deployment.key == History.deployment)
        .where(ranked.c.place <= each)
        .order_by(History.id.desc())
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for row, uuid, fence in session.execute(query):
        found.setdefault(row.deployment, []).append(shape(row, uuid, fence))
    return found


def irregular(session: Session) -> int:
    """How many transitions outside the table were told."""
    return totals.of(session, Counted.IRREGULAR).get("", 0)


def _traced(*columns: Any) -> Select[Any]:
    """These, and last the fence of the operation that made the transition, if it is still known."""
    fence = Operation.fence
    return select(*columns, fence).outerjoin(Operation, Operation.id == History.operation)


def shape(row: History, deployment_id: str, fence: Mapping[str, Any] | None) -> dict[str, Any]:
    """The resource of the API."""
    return {
        "at": stamp(row.at),
        "deployment": deployment_id,
        "node": row.node,
        "incarnation": row.incarnation,
        "from": row.from_state.value if row.from_state else None,
        "to": row.to_state.value,
        "actor": row.actor,
        "reason": row.reason,
        "operation": row.operation,
        "trace": (fence or {}).get("trace"),
        "attempt": row.attempt,
        "revision": row.revision,
        "version": row.version,
        "commit": row.commit,
        "error": row.error,
        "irregular": row.irregular,
    }


def transitions_by_target(session: Session) -> dict[str, int]:
    """How many transitions led to each state."""
    return totals.of(session, Counted.TRANSITION)
