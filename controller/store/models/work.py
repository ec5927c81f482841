"""Tables of the work: requests, deployments, placements, their history and operations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Computed, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from controller.store.columns import (
    Base,
    Commit,
    Compressed,
    Digest,
    LongText,
    Number,
    NumberKey,
    Uuid,
    words,
)
from controller.store.words import Action, OperationState, Priority, RequestState
from margrave.lifecycle import Kind, Outcome, State

_OPEN = text("state IN ('running', 'waiting')")


class Request(Base):
    """Something an operator asked for; the queue is the rows that are still open."""

    __tablename__ = "requests"
    __table_args__ = (
        UniqueConstraint("actor", "idempotency_key"),
        Index("ix_requests_queue", "state", "rank", "number"),
    )

    number: Mapped[NumberKey]
    id: Mapped[Uuid] = mapped_column(unique=True)
    action: Mapped[Action] = mapped_column(words(Action))
    actor: Mapped[str]
    state: Mapped[RequestState] = mapped_column(words(RequestState))
    priority: Mapped[Priority] = mapped_column(words(Priority))
    rank: Mapped[int]  # the priority as the queue sorts it
    reason: Mapped[LongText | None]
    body: Mapped[dict[str, Any]]  # as it was sent
    change: Mapped[dict[str, Any]]  # what the publisher applies to each document
    plan: Mapped[dict[str, Any] | None]
    idempotency_key: Mapped[str | None]
    commit: Mapped[Commit | None]
    branch: Mapped[dict[str, Any] | None]  # {name, commit, base, since}: waits to be merged
    error: Mapped[dict[str, Any] | None]
    trace: Mapped[str | None]  # X-Request-Id
    documents: Mapped[int] = mapped_column(default=0)  # how many it changes
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]  # when it was last taken out of the queue
    pushing: Mapped[bool] = mapped_column(default=False)  # on its way: nothing takes it back
    ended_at: Mapped[datetime | None]


class RequestDeployment(Base):
    """A deployment that a request concerns."""

    __tablename__ = "request_deployments"
    # Finds earlier requests for the same deployment.
    __table_args__ = (Index("ix_request_deployments_place", "deployment", "site", "request"),)

    request: Mapped[int] = mapped_column(
        ForeignKey("requests.number", ondelete="CASCADE"), primary_key=True
    )
    deployment: Mapped[Uuid] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(String(63), primary_key=True)


class Deployment(Base):
    """A deployment at a site: what Git wants, and state and outcome over its placements."""

    __tablename__ = "deployments"
    __table_args__ = (
        UniqueConstraint("site", "id"),
        Index("ix_deployments_site_name", "site", "name"),
        Index("ix_deployments_counts", "site", "state", "outcome"),  # overviews only count
        # Lists walk the index of their filter, which is in their order (store.finding).
        Index("ix_deployments_site_key", "site", "key"),
        Index("ix_deployments_name_key", "name", "key"),
        Index("ix_deployments_app_key", "app", "key"),
        Index("ix_deployments_state_key", "state", "key"),
        Index("ix_deployments_outcome_key", "outcome", "key"),
        Index("ix_deployments_updated_key", "updated_at", "key"),
    )

    # What lists filter by stands first: SQLite reads a wide row only as far as it has to.
    key: Mapped[NumberKey]
    id: Mapped[Uuid] = mapped_column(index=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name"))
    name: Mapped[str]
    app: Mapped[str] = mapped_column(String(200))
    search: Mapped[LongText] = mapped_column(
        Computed("lower(name || ' ' || app || ' ' || site || ' ' || id)", persisted=True)
    )
    # over the placements; written by store.aggregate alone
    state: Mapped[State] = mapped_column(words(State))
    outcome: Mapped[Outcome] = mapped_column(words(Outcome))
    version: Mapped[str | None]
    profile: Mapped[str]
    node: Mapped[str | None] = mapped_column(String(63))  # deviceId's last part, None for *
    # from the document
    in_git: Mapped[bool]
    revision: Mapped[Digest | None]
    document_digest: Mapped[Digest | None]
    document: Mapped[LongText | None]  # the YAML as in Git; the last one after a delete
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)  # {name: value}
    extensions: Mapped[dict[str, Any]] = mapped_column(default=dict)  # x-margrave-extensions
    needs: Mapped[dict[str, Any]] = mapped_column(default=dict)  # {ports, images} on a node
    findings: Mapped[list[Any]] = mapped_column(default=list)
    commit: Mapped[Commit | None]  # the newest that changed the document
    author: Mapped[str | None]
    request: Mapped[Uuid | None]  # id of the last request, None when a person's push
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class Placement(Base):
    """A deployment on a node; a new incarnation when it comes back after DELETED."""

    __tablename__ = "placements"

    deployment: Mapped[int] = mapped_column(
        ForeignKey("deployments.key", ondelete="CASCADE"), primary_key=True
    )
    node: Mapped[str] = mapped_column(String(63), primary_key=True)
    incarnation: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[State] = mapped_column(words(State))
    outcome: Mapped[Outcome] = mapped_column(words(Outcome))
    revision: Mapped[Digest | None]  # what runs
    version: Mapped[str | None]
    wanted_revision: Mapped[Digest | None]
    wanted_version: Mapped[str | None]
    attempt: Mapped[int] = mapped_column(default=0)
    reason: Mapped[LongText | None]
    error: Mapped[dict[str, Any] | None]
    waiting: Mapped[dict[str, Any] | None]
    health: Mapped[str] = mapped_column(default="unknown")
    drift: Mapped[list[Any]] = mapped_column(default=list)
    components: Mapped[list[Any]] = mapped_column(default=list)
    # Named volumes are on the node, also after a delete; None while its runner has not told.
    keeps_data: Mapped[bool | None]
    since: Mapped[datetime]
    updated_at: Mapped[datetime]


class History(Base):
    """A transition of a placement, once and for good."""

    __tablename__ = "history"
    __table_args__ = (Index("ix_history_deployment", "deployment", "id"),)

    id: Mapped[NumberKey]
    deployment: Mapped[int] = mapped_column(ForeignKey("deployments.key", ondelete="CASCADE"))
    node: Mapped[str] = mapped_column(String(63))
    incarnation: Mapped[int]
    at: Mapped[datetime]
    from_state: Mapped[State | None] = mapped_column(words(State))
    to_state: Mapped[State] = mapped_column(words(State))
    actor: Mapped[str]
    reason: Mapped[LongText | None]
    operation: Mapped[Uuid | None]
    attempt: Mapped[int]
    revision: Mapped[Digest | None]  # what was attempted
    version: Mapped[str | None]
    commit: Mapped[Commit | None]
    error: Mapped[dict[str, Any] | None]
    irregular: Mapped[bool] = mapped_column(default=False)


class Operation(Base):
    """A module call on a node, as its runner tells it."""

    __tablename__ = "operations"
    __table_args__ = (
        Index("ix_operations_open", "state", sqlite_where=_OPEN, postgresql_where=_OPEN),
    )

    number: Mapped[NumberKey]
    id: Mapped[Uuid] = mapped_column(unique=True)
    deployment: Mapped[int] = mapped_column(
        ForeignKey("deployments.key", ondelete="CASCADE"), index=True
    )
    site: Mapped[str] = mapped_column(String(63), index=True)
    node: Mapped[str] = mapped_column(String(63))
    kind: Mapped[Kind] = mapped_column(words(Kind))
    state: Mapped[OperationState] = mapped_column(words(OperationState))
    phase: Mapped[str | None]
    attempt: Mapped[int]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    fence: Mapped[dict[str, Any] | None]  # {runner, epoch, seq}, and the trace
    error: Mapped[dict[str, Any] | None]
    updated_at: Mapped[datetime]


class OperationLog(Base):
    """A chunk of an operation's log, outside the event rows."""

    __tablename__ = "operation_log"

    operation: Mapped[int] = mapped_column(
        ForeignKey("operations.number", ondelete="CASCADE"), primary_key=True
    )
    chunk: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(index=True)
    lines: Mapped[bytes] = mapped_column(Compressed)
