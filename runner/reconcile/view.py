"""What the planner sees: the runner's records turned into its view of the site. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from margrave import placement as margrave_placement
from margrave.documents.deployment import Deployment
from margrave.documents.site import SiteDocument
from margrave.error_classes import ErrorClass
from margrave.lifecycle import WORKING, State
from margrave.planning import SiteView, Standing, Wanted
from runner.ports import Node
from runner.reconcile import arguments
from runner.reconcile.due import is_due
from runner.reconcile.stability import is_open
from runner.reconcile.stalls import Stalls
from runner.store.values import Operation, Placement, SiteState

HEAL_BUDGET: Final = 5
HEAL_SPAN: Final = timedelta(minutes=5)

IsActive = Callable[[Node], bool]
ReleaseOf = Callable[[Deployment], str]


def plain_release(deployment: Deployment) -> str:
    """The release of a deployment without secrets: the SHA-256 of its revision."""
    return hashlib.sha256(deployment.revision.encode()).hexdigest()


def site_view(
    site: str,
    now: datetime,
    document: SiteDocument,
    wanted: Sequence[Wanted],
    held: SiteState,
    records: Records,
    is_active: IsActive,
    stalls: Stalls,
) -> SiteView:
    """Return the site at this moment.

    A deployment with an unreadable record is left out as a whole: if only the placement were
    missing it would be installed again, and if only the document were it would be removed.
    """
    seen: list[Standing] = []
    unread: set[str] = set()
    for placement in records.placements:
        try:
            seen.append(_standing(placement, records, now))
        except Exception as error:  # noqa: BLE001 - reported; a defect holds no other placement
            stalls.add(placement.deployment, placement.node, error)
            unread.add(placement.deployment)
    return SiteView(
        site=site,
        now=now,
        wanted=tuple(entry for entry in wanted if entry.document.id not in unread),
        standing=tuple(entry for entry in seen if entry.deployment not in unread),
        nodes=tuple(_nodes(records, document, is_active)),
        document=document,
        quarantine=records.quarantine,
        locked=lock_reason(held, now),
        locked_until=lock_end(held),
    )


def _standing(placement: Placement, records: Records, now: datetime) -> Standing:
    at_work = records.at_work.get((placement.deployment, placement.node))
    looked, changed = records.noted.get(placement.node), records.last_change(placement.key)
    keeps_data = may_keep_data(placement, looked, changed)
    last = records.last_operations.get(placement.operation or "", (0, 0))
    unstable = bool(records.trouble(placement))
    return replace(
        standing(placement, at_work, now), keeps_data=keeps_data, last=last, unstable=unstable
    )


class Records:
    """What the store holds of the site's work."""

    def __init__(
        self,
        placements: Sequence[Placement],
        unfinished: Iterable[Operation],
        nodes: Sequence[Node],
        quarantine: frozenset[tuple[str, str]],
        noted: Mapping[str, int],
        last_change: Callable[[tuple[str, str, int]], int],
        last_operations: Mapping[str, tuple[int, int]],
        trouble: Callable[[Placement], str] = lambda _: "",
    ) -> None:
        self.trouble = trouble  # within the stable window, by placement
        self.placements = placements
        self.at_work = {(one.deployment, one.node): one for one in unfinished}
        self.nodes = nodes
        self.quarantine = quarantine
        self.noted = noted  # by node, the number of the look that was noted last
        self.last_operations = last_operations  # epoch and number, by operation
        self.last_change = last_change  # the number of a placement's last change of state


def standing(one: Placement, at_work: Operation | None, now: datetime) -> Standing:
    """A placement as the planner sees it."""
    return Standing(
        deployment=one.deployment,
        node=one.node,
        state=one.state,
        outcome=one.outcome,
        name=one.name,
        release=one.release,
        good_release=one.good_release,
        wanted_release=one.tried_release,
        attempt=one.attempt if one.state is State.FAILED or is_open(one) else 0,
        failed_kind=one.kind if one.state is State.FAILED else None,
        error=ErrorClass(one.error["class"]) if one.error else None,
        next_attempt_at=None if is_due(one.next_attempt_at, now) else one.next_attempt_at,
        cancelled=one.cancelled,
        healing=one.healing,
        drift="; ".join(str(text) for text in one.drift),
        degraded=one.health == "degraded",
        heal_after=heal_after(one.heals, now),
        busy=at_work is not None,
        leads_to=leads_to(one, at_work),
    )


def may_keep_data(one: Placement, noted: int | None, changed: int) -> bool:
    """Whether named volumes of it are on the node, or may be: only a look at what stands there
    tells, and so does its delete. Until then it is not moved away from what it may have written.

    A look says nothing of a placement that is at work; a delete begins with what was known.
    """
    if one.keeps_data or one.state in (State.PENDING, State.DELETING, State.DELETED):
        return one.keeps_data
    return one.state in WORKING or noted is None or noted < changed


def leads_to(one: Placement, at_work: Operation | None) -> str | None:
    """The release that the call at work is for, when a newer one may take its place: what was
    cancelled is about to end anyway."""
    if at_work is None or one.cancelled or not arguments.leads_on(at_work):
        return None
    return at_work.release


def heal_after(heals: Iterable[str], now: datetime) -> datetime | None:
    """When the next heal may start, where the budget is spent; None while it is not."""
    recent = recent_heals(heals, now)
    if len(recent) < HEAL_BUDGET:
        return None
    return datetime.fromisoformat(recent[-HEAL_BUDGET]) + HEAL_SPAN


def recent_heals(heals: Iterable[str], now: datetime) -> list[str]:
    """Return the heals that still count; one in the future is of a clock that was wrong."""
    return [text for text in heals if now - HEAL_SPAN < datetime.fromisoformat(text) <= now]


def lock_reason(held: SiteState, now: datetime) -> str:
    """Why nothing may be started at the site; empty when nothing holds it."""
    if held.stood_down:
        return f"stood down: {held.stood_down}"
    if not held.locked or lock_ended(held, now):
        return ""
    return f"{held.locked.get('reason')} ({held.locked.get('owner')})"


def lock_end(held: SiteState) -> datetime | None:
    """When what locks the site ends by itself; None when nothing does, or it has no end."""
    until = (held.locked or {}).get("until")
    return None if until is None or held.stood_down else datetime.fromisoformat(until)


def lock_ended(held: SiteState, now: datetime) -> bool:
    """Whether there is a lock that is over."""
    until = (held.locked or {}).get("until")
    return until is not None and datetime.fromisoformat(until) <= now


def _nodes(
    records: Records, document: SiteDocument, is_active: IsActive
) -> Iterable[margrave_placement.Node]:
    load = Counter(one.node for one in records.placements if one.state is not State.DELETED)
    for node in records.nodes:
        yield margrave_placement.Node(
            name=node.name,
            labels={**node.labels},
            capabilities={**node.capabilities},
            active=is_active(node),
            drain=node.drain or document.drains(node.name),
            load=load[node.name],
        )
