"""Tables of what flows: events, reports, commands, and the audit."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from controller.store.columns import Base, LongText, Number, NumberKey, Uuid, words
from controller.store.words import CommandKind, CommandState, EventKind


class Event(Base):
    """What happened, append-only; the id is the SSE id."""

    __tablename__ = "events"

    id: Mapped[NumberKey]
    event: Mapped[EventKind] = mapped_column(words(EventKind))
    site: Mapped[str | None] = mapped_column(String(63))
    deployment: Mapped[Uuid | None]
    data: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(index=True)


class ReportCursor(Base):
    """How far a runner's reports have come."""

    __tablename__ = "report_cursors"

    site: Mapped[str] = mapped_column(
        ForeignKey("sites.name", ondelete="CASCADE"), primary_key=True
    )
    runner: Mapped[Uuid] = mapped_column(primary_key=True)
    epoch: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=False)
    next_seq: Mapped[int] = mapped_column(Number)
    updated_at: Mapped[datetime]


class RejectedReport(Base):
    """An event that could not be read: kept, acknowledged, blocking nobody."""

    __tablename__ = "rejected_reports"

    id: Mapped[NumberKey]
    site: Mapped[str] = mapped_column(ForeignKey("sites.name", ondelete="CASCADE"), index=True)
    runner: Mapped[Uuid]
    epoch: Mapped[int] = mapped_column(Number)
    seq: Mapped[int] = mapped_column(Number)
    body: Mapped[LongText]
    finding: Mapped[LongText]
    at: Mapped[datetime] = mapped_column(index=True)


class Command(Base):
    """Something a runner is to do; repeated with its heartbeats until a report acknowledges it."""

    __tablename__ = "commands"
    __table_args__ = (Index("ix_commands_open", "site", "state", "number"),)

    number: Mapped[NumberKey]
    id: Mapped[Uuid] = mapped_column(unique=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name", ondelete="CASCADE"))
    kind: Mapped[CommandKind] = mapped_column(words(CommandKind))
    data: Mapped[dict[str, Any]]  # what the kind needs: deployment, node, commit; and its trace
    state: Mapped[CommandState] = mapped_column(words(CommandState))
    request: Mapped[Uuid | None]
    actor: Mapped[str]
    detail: Mapped[LongText | None]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class AuditEntry(Base):
    """Who did what, from where, with which outcome; each entry's hash covers the one before."""

    __tablename__ = "audit"

    id: Mapped[NumberKey]
    at: Mapped[datetime]
    actor: Mapped[str]
    address: Mapped[str | None]
    action: Mapped[str]
    target: Mapped[LongText]
    outcome: Mapped[str]
    trace: Mapped[str | None]
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)
    previous: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class Total(Base):
    """How often something has happened: counted as it happens, for history is never counted."""

    __tablename__ = "totals"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    label: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int] = mapped_column(Number)


class Fact(Base):
    """A single thing worth remembering over a restart: the head of the deployments repository."""

    __tablename__ = "facts"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    value: Mapped[dict[str, Any]]
