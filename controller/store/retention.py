"""Forgetting what is older than it has to be kept; what is forgotten is deleted for real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from controller.store.models import Deployment, Event, OperationLog, RejectedReport
from margrave.lifecycle import State

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class Horizon:
    """Before these times nothing is kept."""

    events: datetime
    logs: datetime
    deleted: datetime


def sweep(session: Session, horizon: Horizon) -> None:
    """Delete old events, logs, unreadable reports, and deployments that ended long ago."""
    # The newest event stays whatever its age: ids count on from it and are never given twice.
    newest = select(func.max(Event.id)).scalar_subquery()
    session.execute(delete(Event).where(Event.at < horizon.events, Event.id < newest))
    session.execute(delete(RejectedReport).where(RejectedReport.at < horizon.events))
    session.execute(delete(OperationLog).where(OperationLog.at < horizon.logs))
    # Placements, history and operations go with their deployment.
    ended = (Deployment.state == State.DELETED, Deployment.deleted_at < horizon.deleted)
    session.execute(delete(Deployment).where(*ended, Deployment.in_git.is_(False)))
