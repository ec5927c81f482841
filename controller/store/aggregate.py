"""State and outcome of a deployment over its placements: the one function that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from controller.store.models import Deployment, Placement
from margrave.lifecycle import Outcome, State, overall_outcome, overall_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session


def settle(session: Session, key: int, now: datetime, *, awaited: bool = False) -> bool:
    """Bring a deployment's state and outcome in line with its placements; True when they changed.

    `awaited` is for a deployment whose document is not in Git yet but on its way there: it counts
    as wanted, so it is PENDING and not DELETED.
    """
    session.flush()
    row = session.get_one(Deployment, key)
    newest = _newest_incarnations(session, key)
    wanted = row.in_git or awaited
    state = overall_state([one.state for one in newest], in_git=wanted)
    outcome = _outcome(newest, state, wanted=wanted)
    if (row.state, row.outcome) == (state, outcome):
        return False
    row.state, row.outcome, row.updated_at = state, outcome, now
    row.deleted_at = (row.deleted_at or now) if state is State.DELETED else None
    return True


def _newest_incarnations(session: Session, key: int) -> list[Placement]:
    rows = session.scalars(
        select(Placement)
        .where(Placement.deployment == key)
        .order_by(Placement.node, Placement.incarnation)
    )
    return list({row.node: row for row in rows}.values())


def _outcome(newest: Sequence[Placement], state: State, *, wanted: bool) -> Outcome:
    if state is State.DELETED:
        return Outcome.SUCCEEDED
    counted = [one for one in newest if not (wanted and one.state is State.DELETED)]
    # A revision that a node was not told of yet is pending there, whatever the old one's outcome.
    return overall_outcome(one.outcome for one in counted)
