"""State and outcome of a deployment over its placements: the one function that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from controller.store.models import Deployment, Placement
from margrave.lifecycle import Outcome, State, overall_outcome, overall_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session


class Stand(NamedTuple):
    """What counts of a placement."""

    state: State
    outcome: Outcome


def settle(session: Session, key: int, now: datetime, *, awaited: bool = False) -> bool:
    """Bring a deployment's state and outcome in line with its placements; True when they changed.

    `awaited` is for a deployment whose document is not in Git yet but on its way there: it counts
    as wanted, so it is PENDING and not DELETED.
    """
    return bool(settle_all(session, [key], now, awaited=awaited))


def settle_all(
    session: Session,
    keys: Sequence[int],
    now: datetime,
    *,
    awaited: bool = False,
    stands: Mapping[int, Sequence[Stand]] | None = None,
) -> list[Deployment]:
    """The same for several deployments; those that changed.

    `stands` are their newest incarnations on each node, when they are known already.
    """
    session.flush()
    if stands is None:
        stands = _newest_incarnations(session, keys)
    changed = []
    for row in session.scalars(select(Deployment).where(Deployment.key.in_(keys))):
        newest = stands.get(row.key, ())
        wanted = row.in_git or awaited
        state = overall_state([one.state for one in newest], in_git=wanted)
        outcome = _outcome(newest, state, wanted=wanted)
        if (row.state, row.outcome) == (state, outcome):
            continue
        row.state, row.outcome, row.updated_at = state, outcome, now
        row.deleted_at = (row.deleted_at or now) if state is State.DELETED else None
        changed.append(row)
    return changed


def _newest_incarnations(session: Session, keys: Sequence[int]) -> dict[int, list[Stand]]:
    columns = (Placement.deployment, Placement.node, Placement.state, Placement.outcome)
    query = select(*columns).where(Placement.deployment.in_(keys))
    newest = {
        (key, node): Stand(state, outcome)
        for key, node, state, outcome in session.execute(
            query.order_by(Placement.deployment, Placement.node, Placement.incarnation)
        )
    }
    found: dict[int, list[Stand]] = {}
    for (key, _), stand in newest.items():
        found.setdefault(key, []).append(stand)
    return found


def _outcome(newest: Sequence[Stand], state: State, *, wanted: bool) -> Outcome:
    if state is State.DELETED:
        return Outcome.SUCCEEDED
    counted = [one for one in newest if not (wanted and one.state is State.DELETED)]
    # A revision that a node was not told of yet is pending there, whatever the old one's outcome.
    return overall_outcome(one.outcome for one in counted)
