"""Queries of requests that stand on a branch of their own and wait to be merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from controller.store.models import Request
from controller.store.requests import as_work
from controller.store.words import RequestState

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class Proposed:
    """A request that waits: the branch with our commit, and the head that it was built on."""

    id: str
    name: str
    commit: str
    base: str | None
    work: dict[str, Any]


def waiting(session: Session) -> list[Proposed]:
    """All that wait, oldest first."""
    query = select(Request).where(
        Request.state == RequestState.PUBLISHING, Request.branch.is_not(None)
    )
    return [
        Proposed(
            row.id,
            row.branch["name"],
            row.branch["commit"],
            row.branch["base"],
            as_work(session, row),
        )
        for row in session.scalars(query.order_by(Request.number))
        if row.branch is not None
    ]


def given_up(session: Session, ids: Collection[str]) -> dict[str, str]:
    """Of these requests those that ended without being merged, each with its branch's commit."""
    ended = (RequestState.CANCELLED, RequestState.FAILED, RequestState.REFUSED)
    query = select(Request).where(Request.id.in_(ids), Request.state.in_(ended))
    return {row.id: row.branch["commit"] for row in session.scalars(query) if row.branch}
