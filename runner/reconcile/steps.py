"""The steps of a tick, in their order: fetch, observe, plan, prove, execute, prepare, settle.

They share one signature.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from margrave import planner
from margrave.lifecycle import Outcome as Fate
from margrave.lifecycle import State
from margrave.planning import SitePlan, SiteView, Step, Wanted
from runner.ports import Node
from runner.reconcile import desires, view, waits
from runner.reconcile.ahead import Ahead
from runner.reconcile.beginning import new_placement
from runner.reconcile.observe import Observer
from runner.reconcile.operations import Operations
from runner.reconcile.outcomes import Again, Done, Outcome, Waiting
from runner.reconcile.stalls import Stalls
from runner.reconcile.turns import in_turn
from runner.reconcile.watch import Watch
from runner.source import Desired
from runner.store import (
    OperationState,
    Placement,
    Store,
    Transaction,
    nodes,
    operations,
    outbox,
    placements,
    site,
    transitions,
)
from runner.store.resources import site_resource


@dataclass
class Parts:
    """What the steps work with."""

    site: str
    store: Store
    watch: Watch
    observer: Observer
    operations: Operations
    ahead: Ahead
    release_of: view.ReleaseOf
    is_active: view.IsActive
    stalls: Stalls
    per_node: int = 8  # operations at once on one node
    look_at: Callable[[frozenset[str]], None] = lambda _: None  # and wait for no answer


@dataclass
class Tick:
    """What one walk through the steps has found so far."""

    parts: Parts
    desired: Desired | None = None
    wanted: Sequence[Wanted] = ()
    nodes: Mapping[str, Node] = field(default_factory=dict)
    standing: Sequence[Placement] = ()
    plan: SitePlan = field(default_factory=lambda: SitePlan(()))
    started: int = 0


StepOfTick = Callable[[Tick], Outcome]


def fetch(tick: Tick) -> Outcome:
    """Take up what Git wants now; placements learn what is wanted of them."""
    parts = tick.parts
    parts.stalls.begin()
    tick.desired = parts.watch.take_up()
    if tick.desired is None:
        return parts.watch.last
    tick.wanted = desires.of(tick.desired, parts.release_of, parts.stalls)
    releases = {one.document.id: one.release for one in tick.wanted}
    # Where the release cannot be told nothing is known to be outdated.
    known = {key: release for key, release in releases.items() if release}
    parts.operations.supersede(known, unknown=releases.keys() - known.keys())
    with parts.store.read() as tx:
        stale = [one for one in placements.newest(tx) if _is_stale(one, tick.desired)]
    stale = [one for one in stale if one.deployment in known]
    if stale:
        with parts.store.write() as tx:
            for one in stale:
                with parts.stalls.guard(one.deployment, one.node), tx.savepoint():
                    _want(tx, one, tick.desired, known[one.deployment])
    return parts.watch.last


def unlock(tick: Tick) -> Outcome:
    """A lock whose end has come is gone, and everybody hears of it."""
    with tick.parts.store.read() as tx:
        ended = view.lock_ended(site.site_state(tx), tx.now)
    if ended:
        with tick.parts.store.write() as tx:
            # Looked at again: somebody may have locked it anew in between.
            if view.lock_ended(site.site_state(tx), tx.now):
                outbox.append(tx, "site", site_resource(site.change_site(tx, locked=None)))
    return Done()


def observe(tick: Tick) -> Outcome:
    """Note what the nodes said last; nodes that are back get their calls made again."""
    tick.parts.observer.note_findings()
    with tick.parts.store.read() as tx:
        tick.nodes = {one.name: one for one in nodes.all_nodes(tx)}
    return Done()


def plan(tick: Tick) -> Outcome:
    """Decide, as a pure function of what is known at this moment.

    Without a verified state nothing is known of what is wanted: that is not "nothing is wanted",
    by which everything that runs would be taken off.
    """
    if tick.desired is None:
        return Done()
    with tick.parts.store.read() as tx:
        unfinished = operations.unfinished(tx)
    at_work = [one.node for one in unfinished if one.state is OperationState.RUNNING]
    found = planner.plan(_view(tick, tick.desired))
    for deployment, error in found.failed.items():
        tick.parts.stalls.add(deployment, "", error)
    tick.plan = in_turn(found, at_work, tick.parts.per_node)
    later = tick.plan.next_look
    return Done() if later is None else Waiting("the next look", later)


def prove(tick: Tick) -> Outcome:
    """Ask for a look at the nodes where a stable window has ended."""
    due, seconds = tick.parts.observer.windows.due(tick.standing)
    if due:
        tick.parts.look_at(due)
    return Done() if seconds is None else Again(max(0.0, seconds))


def execute(tick: Tick) -> Outcome:
    """Start what is due, and make calls again that did not end.

    The latter not without a verified state either: what they carry may be what is not whole.
    """
    if tick.desired is None:
        return Done()
    run = tick.parts.operations
    tick.started = run.begin(tick.plan.due, tick.nodes)
    awake = _awake(tick)
    tick.started += run.repeat(tick.nodes, awake, back=tick.parts.observer.take_back())
    seconds = _next_try(tick, awake)
    return Done() if seconds is None else Again(seconds)


def prepare(tick: Tick) -> Outcome:
    """Fetch ahead what waits for its window."""
    ahead = tick.parts.ahead
    tick.plan, begun = ahead.tend(tick.plan, tick.nodes)
    tick.started += begun
    later = ahead.next_try()
    return Done() if later is None else Waiting("fetching ahead is tried again", later)


def settle(tick: Tick) -> Outcome:
    """Write what each placement waits for, where it has changed."""
    if tick.desired is None:
        return Done()
    stalls = tick.parts.stalls
    with tick.parts.store.read() as tx:
        standing = {(one.deployment, one.node): one for one in placements.newest(tx)}
        busy = {(one.deployment, one.node) for one in operations.unfinished(tx)}
    waiting = [one for one in tick.plan.steps if not one.due]
    reasons = {**stalls.reasons(), **tick.parts.operations.unsettled.reasons()}
    steps = waits.with_stalled(waiting, reasons, standing)
    resting = waits.resting(standing, busy, steps)
    changed = [one for one in steps if waits.differs(standing.get((one.deployment, one.node)), one)]
    if changed or resting:
        with tick.parts.store.write() as tx:
            for step in changed:
                with stalls.guard(step.deployment, step.node), tx.savepoint():
                    _note(tx, step, tick.desired)
            for one in resting:
                with stalls.guard(one.deployment, one.node), tx.savepoint():
                    transitions.note(tx, one, waiting=None)
    return Done()


STEPS: Final[Sequence[StepOfTick]] = (
    fetch,
    unlock,
    observe,
    plan,
    prove,
    execute,
    prepare,
    settle,
)


def _view(tick: Tick, desired: Desired) -> SiteView:
    parts = tick.parts
    with parts.store.read() as tx:
        standing = placements.newest(tx)
        # Where volumes were left, the order of the deletes tells which node had them last.
        left = [one.operation for one in standing if one.state is State.DELETED and one.keeps_data]
        records = view.Records(
            standing,
            operations.unfinished(tx),
            tuple(tick.nodes.values()),
            placements.quarantined(tx),
            parts.observer.noted,
            parts.store.order.last_change,
            operations.numbers(tx, left),
            parts.observer.windows.trouble,
        )
        held, now = site.site_state(tx), tx.now
    tick.standing = standing
    return view.site_view(
        parts.site, now, desired.site, tick.wanted, held, records, parts.is_active, parts.stalls
    )


def _awake(tick: Tick) -> frozenset[str]:
    """The nodes that were heard of lately; the others are told by `take_back` when they are."""
    is_active = tick.parts.is_active
    return frozenset(name for name, node in tick.nodes.items() if is_active(node))


def _next_try(tick: Tick, awake: Container[str]) -> float | None:
    """Seconds until the first unfinished call is to be made again."""
    with tick.parts.store.read() as tx:
        unfinished = [one for one in operations.unfinished(tx) if one.node in awake]
        times = [one.next_try_at for one in unfinished if one.next_try_at]
        return max(0.0, (min(times) - tx.now).total_seconds()) if times else None


def _is_stale(one: Placement, desired: Desired) -> bool:
    document = desired.deployment(one.deployment)
    if document is None or one.state is State.DELETED:
        return False
    return (one.wanted_revision, one.wanted_version) != (document.revision, document.version)


def _want(tx: Transaction, one: Placement, desired: Desired, release: str) -> None:
    """Another revision is wanted: its outcome is open, and what was quarantined may come again."""
    document = desired.deployment(one.deployment)
    assert document is not None, "stale placements are wanted"
    other = one.wanted_revision != document.revision
    if other:
        placements.lift_quarantine(tx, one.deployment, but=release)
    transitions.note(
        tx,
        one,
        wanted_revision=document.revision,
        wanted_version=document.version,
        commit=desired.commit,
        outcome=Fate.PENDING if other else one.outcome,
        reason="another revision is wanted" if other else one.reason,
        error=None if other and one.state is not State.FAILED else one.error,
    )


def _note(tx: Transaction, step: Step, desired: Desired | None) -> None:
    one = placements.find(tx, step.deployment, step.node)
    if one is None or one.state is State.DELETED:
        one = new_placement(tx, step, desired)
    changes = {"outcome": step.outcome, "reason": step.why} if step.outcome else {}
    transitions.note(tx, one, waiting=waits.waiting_of(step), **changes)
