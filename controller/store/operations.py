"""Queries of operations (a module call on a node) and of their logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, insert, literal_column, select, tuple_

from controller.store import totals
from controller.store.columns import table
from controller.store.models import Deployment, Operation, OperationLog
from controller.store.shapes import stamp
from controller.store.totals import Counted
from controller.store.words import OperationState

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from types import SimpleNamespace

    from sqlalchemy.orm import Session


Row = tuple[tuple[int], dict[str, Any]]
NEWEST: Final = 2000  # operations in which durations are looked for: no query grows with history


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which operations a list is to show."""

    deployment: str | None = None
    site: str | None = None
    node: str | None = None
    state: str | None = None
    sites: frozenset[str] | None = None


def get(session: Session, operation_id: str) -> dict[str, Any] | None:
    """The resource of one operation."""
    query = _joined().where(Operation.id == operation_id)
    row = session.execute(query).first()
    return shape(row[0], row[1]) if row else None


def listing(session: Session, wanted: Wanted, *, after: int | None, limit: int) -> list[Row]:
    """Resources, newest first, with the key of each."""
    query = _joined().order_by(Operation.number.desc()).limit(limit)
    for column, value in (
        (Deployment.id, wanted.deployment),
        (Operation.site, wanted.site),
        (Operation.node, wanted.node),
        (Operation.state, wanted.state),
    ):
        if value is not None:
            query = query.where(column == value)
    if wanted.sites is not None:
        query = query.where(Operation.site.in_(wanted.sites))
    if after is not None:
        query = query.where(Operation.number < after)
    return [((row.number,), shape(row, uuid)) for row, uuid in session.execute(query)]


def add_logs(session: Session, told: Sequence[tuple[str, list[str], datetime]]) -> list[int]:
    """Append lines to logs of operations that are stored: (operation's id, lines, time).

    The number of each of these pieces in its log.
    """
    ids = {operation for operation, _, _ in told}
    last = func.coalesce(func.max(OperationLog.chunk), 0)
    query = (
        select(Operation.id, Operation.number, last)
        .outerjoin(OperationLog, OperationLog.operation == Operation.number)
        .where(Operation.id.in_(ids))
        .group_by(Operation.id, Operation.number)
    )
    ends = {one: (number, chunk) for one, number, chunk in session.execute(query)}
    rows, numbers = [], []
    for operation, lines, at in told:
        number, chunk = ends[operation]
        numbers.append(chunk + 1)
        ends[operation] = (number, chunk + 1)
        text = "".join(line.rstrip("\n") + "\n" for line in lines)
        rows.append({"operation": number, "chunk": chunk + 1, "at": at, "lines": text.encode()})
    session.connection().execute(insert(table(OperationLog)), rows)
    return numbers


def lines_of(session: Session, pieces: Collection[tuple[str, int]]) -> dict[tuple[str, int], bytes]:
    """Pieces of logs by operation and number; those that are kept no more are left out."""
    query = (
        select(Operation.id, OperationLog.chunk, OperationLog.lines)
        .join(Operation, Operation.number == OperationLog.operation)
        .where(tuple_(Operation.id, OperationLog.chunk).in_(list(pieces)))
    )
    return {(one, chunk): lines for one, chunk, lines in session.execute(query)}


def log(session: Session, operation_id: str) -> str:
    """An operation's log as far as it was told."""
    query = (
        select(OperationLog.lines)
        .join(Operation, Operation.number == OperationLog.operation)
        .where(Operation.id == operation_id)
        .order_by(OperationLog.chunk)
    )
    return b"".join(session.scalars(query)).decode("utf-8", "replace")


def typical(session: Session, app: str | None, ids: Sequence[str]) -> dict[str, float]:
    """The middle of the seconds that the newest operations took which came through, by kind: of
    the application, which may be named by one of its deployments. Nothing where there were none."""
    if app is None:
        query = select(Deployment.app).where(Deployment.id.in_(ids)).limit(1)
        app = session.scalar(query)
    newest = select(func.max(Operation.number)).scalar_subquery()
    rows = session.execute(
        select(Operation.kind, Operation.started_at, Operation.ended_at)
        .join(Deployment, Deployment.key == Operation.deployment)
        .where(
            Operation.number > newest - NEWEST,
            Deployment.app == app,
            Operation.state == OperationState.SUCCEEDED,
            Operation.started_at.is_not(None),
            Operation.ended_at.is_not(None),
        )
    )
    took: dict[str, list[float]] = {}
    for kind, began, ended in rows:
        if began is not None and ended is not None:
            took.setdefault(kind.value, []).append(max(0.0, (ended - began).total_seconds()))
    return {kind: sorted(times)[len(times) // 2] for kind, times in took.items()}


def label(row: SimpleNamespace) -> str:
    """How an operation that ended is counted: kind, state and class of error."""
    return f"{row.kind}/{row.state}/{(row.error or {}).get('class') or ''}"


def by_result(session: Session) -> dict[tuple[str, str, str], int]:
    """How many operations there were of each kind, state and class of error."""
    found: dict[tuple[str, str, str], int] = {}
    for one, number in totals.of(session, Counted.OPERATION).items():
        kind, state, error = one.split("/", 2)
        found[kind, state, error] = number
    running = select(Operation.kind, Operation.state, func.count()).where(
        Operation.state.in_([literal_column("'running'"), literal_column("'waiting'")])
    )
    for kind_, state_, number in session.execute(running.group_by(Operation.kind, Operation.state)):
        found[kind_.value, state_.value, ""] = number
    return found


def _joined() -> Any:
    return select(Operation, Deployment.id).join(Deployment, Deployment.key == Operation.deployment)


def shape(row: Operation | SimpleNamespace, deployment_id: str) -> dict[str, Any]:
    """The resource of the API."""
    fence = dict(row.fence or {})
    trace = fence.pop("trace", None)
    return {
        "id": row.id,
        "deployment": deployment_id,
        "site": row.site,
        "node": row.node,
        "kind": row.kind.value,
        "state": row.state.value,
        "phase": row.phase,
        "attempt": row.attempt,
        "started_at": stamp(row.started_at),
        "ended_at": stamp(row.ended_at),
        "fence": fence or None,
        "error": row.error,
        "trace": trace,
    }
