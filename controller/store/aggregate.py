"""State and outcome of a deployment over its placements: the one function that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select, update

from controller.store.columns import table
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
) -> list[Deployment]:
    """The same for several deployments; those that changed."""
    session.flush()
    stands = _newest_incarnations(session, keys)
    changed = []
    for row in session.scalars(select(Deployment).where(Deployment.key.in_(keys))):
        state, outcome = _overall(stands.get(row.key, ()), wanted=row.in_git or awaited)
        if (row.state, row.outcome) == (state, outcome):
            continue
        row.state, row.outcome, row.updated_at = state, outcome, now
        row.deleted_at = (row.deleted_at or now) if state is State.DELETED else None
        changed.append(row)
    return changed


def settle_known(
    session: Session, keys: Sequence[int], stands: Mapping[int, Sequence[Stand]], now: datetime
) -> dict[int, Stand]:
    """The same where the newest incarnations are at hand; what those became that changed, by key.

    One statement for all that come to the same, and no mapped object: those that the session
    holds are not brought up to date.
    """
    session.flush()
    columns = (Deployment.key, Deployment.in_git, Deployment.state, Deployment.outcome)
    moved: dict[Stand, list[int]] = {}
    for row in session.execute(select(*columns).where(Deployment.key.in_(keys))):
        key, now_is = row.key, _overall(stands.get(row.key, ()), wanted=row.in_git)
        if now_is != Stand(row.state, row.outcome):
            moved.setdefault(now_is, []).append(key)
    for (state, outcome), some in moved.items():
        ended = func.coalesce(Deployment.deleted_at, now) if state is State.DELETED else None
        values = {"state": state, "outcome": outcome, "updated_at": now, "deleted_at": ended}
        session.connection().execute(
            update(table(Deployment)).where(Deployment.key.in_(some)).values(values)
        )
    return {key: stand for stand, some in moved.items() for key in some}


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


def _overall(newest: Sequence[Stand], *, wanted: bool) -> Stand:
    state = overall_state([one.state for one in newest], in_git=wanted)
    if state is State.DELETED:
        return Stand(state, Outcome.SUCCEEDED)
    counted = [one for one in newest if not (wanted and one.state is State.DELETED)]
    # A revision that a node was not told of yet is pending there, whatever the old one's outcome.
    return Stand(state, overall_outcome(one.outcome for one in counted))
