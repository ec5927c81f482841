"""Queries of commands: what a runner is told with its heartbeats until it acknowledges."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, select

from controller.store.models import Command
from controller.store.words import CommandState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.words import CommandKind

_PENDING: Final = (
    select(Command.id, Command.kind, Command.data)
    .where(Command.site == bindparam("of_site"), Command.state == CommandState.PENDING)
    .order_by(Command.number)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Order:
    """A command to be given; `data` is what its kind needs: deployment, node, commit."""

    site: str
    kind: CommandKind
    actor: str
    data: Mapping[str, Any] = field(default_factory=dict)
    request: str | None = None
    trace: str | None = None  # X-Request-Id, which travels with it


def add(session: Session, order: Order, now: datetime) -> str:
    """Store a command; its id."""
    command_id = str(uuid.uuid4())
    trace = {"trace": order.trace} if order.trace else {}
    session.add(
        Command(
            id=command_id,
            site=order.site,
            kind=order.kind,
            data={**order.data, **trace},
            state=CommandState.PENDING,
            request=order.request,
            actor=order.actor,
            created_at=now,
        )
    )
    return command_id


def pending(session: Session, site: str, limit: int = 100) -> list[dict[str, Any]]:
    """What a site's runner has not acknowledged, in the order it was given."""
    rows = session.execute(_PENDING, {"of_site": site, "most": limit})
    return [{"id": row.id, "kind": row.kind.value, **row.data} for row in rows]


def acknowledge(
    session: Session, site: str, command_id: str, state: CommandState, detail: str, now: datetime
) -> bool:
    """End a command; False when the site has no such one. A repeat changes nothing."""
    row = session.scalar(select(Command).where(Command.id == command_id, Command.site == site))
    if row is None:
        return False
    if row.state is CommandState.PENDING:
        row.state, row.detail, row.ended_at = state, detail, now
    return True


def open_commands(session: Session) -> int:
    """How many wait for their runners."""
    query = select(func.count()).select_from(Command)
    return session.scalar(query.where(Command.state == CommandState.PENDING)) or 0
