"""What is to happen at a site, and what each thing waits for: a pure function of a view.

Read it in this order: `plan` walks the deployments; `_proposal` says what one placement needs,
by its state alone; `gates` (its own module) says what stands in the way of starting it now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from margrave.documents._reading import OURS
from margrave.documents.extensions import Extensions, with_defaults
from margrave.error_classes import POLICY, ErrorClass, retries_left
from margrave.gates import Batch, Cause, Gates
from margrave.lifecycle import WORKING, Kind, Outcome, State
from margrave.placement import Placed, Wish, place
from margrave.planning import SitePlan, SiteView, Standing, Step, Waiting, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from margrave.documents.deployment import Deployment
    from margrave.documents.site import SiteDocument

_Proposal = tuple[Cause, Step] | None
_PRIORITY: Final = {"urgent": 0, "normal": 1, "bulk": 2}
_SETTLED: Final = (Outcome.HELD, Outcome.ROLLED_BACK)


def plan(view: SiteView) -> SitePlan:
    """All steps of a site, those that may start now and those that wait with a reason."""
    mine = by_deployment(view.standing)
    policies = {one.document.id: effective(one.document, view.document) for one in view.wanted}
    placed = {
        one.document.id: _placed(
            view, one, policies[one.document.id], mine.get(one.document.id, {})
        )
        for one in view.wanted
    }
    gates = Gates(view)
    steps = list(_removals(view, placed, gates))
    for wanted in sorted(view.wanted, key=lambda one: _rank(policies, one)):
        key = wanted.document.id
        steps += _deployment(view, wanted, policies[key], placed[key], mine.get(key, {}), gates)
    return SitePlan(tuple(steps), placed)


def by_deployment(standing: Sequence[Standing]) -> dict[str, dict[str, Standing]]:
    """Placements by deployment and node."""
    found: dict[str, dict[str, Standing]] = {}
    for one in standing:
        found.setdefault(one.deployment, {})[one.node] = one
    return found


def effective(document: Deployment, site: SiteDocument) -> Extensions:
    """A deployment's policies, with the site's defaults where it is silent."""
    defaults = site.raw.get("defaults")
    if not defaults:
        return document.extensions
    return with_defaults(document.raw["spec"].get(OURS) or {}, defaults)


def _placed(
    view: SiteView, wanted: Wanted, policies: Extensions, mine: Mapping[str, Standing]
) -> Placed:
    """The nodes a deployment stands on, or is to stand on."""
    document = wanted.document
    last = document.device_id.rpartition("/")[2]
    wish = Wish(
        placement=policies.placement,
        pinned=None if last == "*" else last,
        profile_type=document.profile_type,
        constraints=document.device_constraints,
        keeps_data=any(one.keeps_data for one in mine.values()),
    )
    there = {node for node, one in mine.items() if one.state is not State.DELETED}
    return place(wish, view.nodes, there)


def _rank(policies: Mapping[str, Extensions], wanted: Wanted) -> tuple[int, str]:
    return (_PRIORITY[policies[wanted.document.id].priority], wanted.document.name)


def _removals(view: SiteView, placed: Mapping[str, Placed], gates: Gates) -> Iterable[Step]:
    """Take off what Git no longer has, and what no longer belongs on its node."""
    for one in view.standing:
        if one.busy or one.state in WORKING or one.state is State.DELETED:
            continue
        where = placed.get(one.deployment)
        if where is not None and one.node in where.chosen:
            continue
        why = "removed from Git" if where is None else where.reason(one.node)
        retry = one.failed_kind is Kind.DELETE
        step = Step(
            one.deployment,
            one.node,
            Kind.DELETE,
            why,
            one.release,
            attempt=one.attempt + 1 if retry and one.state is State.FAILED else 1,
        )
        yield gates.passed(step, Cause.RETRY if step.attempt > 1 else Cause.NEW, one, None)


def _deployment(
    view: SiteView,
    wanted: Wanted,
    policies: Extensions,
    placed: Placed,
    mine: Mapping[str, Standing],
    gates: Gates,
) -> Iterable[Step]:
    batch: Batch | None = None
    for node in placed.chosen:
        one = mine.get(node)
        if one is not None and (one.busy or one.state in WORKING):
            continue
        proposal = _proposal(wanted, node, one, policies)
        if proposal is None:
            continue
        # Most placements rest, so the batch is looked at when the first one does not.
        batch = batch or Batch.of(view, wanted, placed.chosen, mine, policies.strategy.batch)
        cause, step = proposal
        if cause is Cause.NEW and batch.broken:
            yield from _held(step, one)
            repair = _heal(step, one, policies) if one and one.state is State.INSTALLED else None
            if one is not None and repair is not None and one.outcome in _SETTLED:
                yield gates.passed(repair[1], repair[0], one, policies, batch)
        elif cause is Cause.TOLD:
            yield step
        else:
            yield gates.passed(step, cause, one, policies, batch)


def _held(step: Step, one: Standing | None) -> Iterable[Step]:
    """A revision that failed elsewhere at the site is not tried here."""
    why = "the wanted revision failed at this site"
    if one is None or one.outcome not in _SETTLED:
        yield replace(step, kind=None, outcome=Outcome.HELD, why=why)


def _proposal(wanted: Wanted, node: str, one: Standing | None, extensions: Extensions) -> _Proposal:
    """What a placement needs, whatever stands in the way; None when it rests."""
    if one is not None and _rests(one, wanted.release):
        return None
    blank = Step(wanted.document.id, node, None, "", to_release=wanted.release)
    if one is None or one.state is State.DELETED:
        why = "wanted here" if one is None else "wanted here again"
        return Cause.NEW, replace(blank, kind=Kind.INSTALL, why=why, new_placement=True)
    return _BY_STATE[one.state](replace(blank, from_release=one.release), one, extensions)


def _rests(one: Standing, release: str) -> bool:
    """It runs as wanted and was told so: the common case, decided without making a step."""
    return (
        one.release == release
        and one.state is State.INSTALLED
        and one.outcome is Outcome.SUCCEEDED
        and not one.drift
    )


def _pending(step: Step, one: Standing, _: Extensions) -> _Proposal:
    if one.outcome is Outcome.HELD and one.wanted_release == step.to_release:
        return None  # cancelled before it began: a person or a newer one goes on
    return Cause.NEW, replace(step, kind=Kind.INSTALL, why="wanted here", attempt=one.attempt + 1)


def _installed(step: Step, one: Standing, extensions: Extensions) -> _Proposal:
    if one.release != step.to_release:
        if one.wanted_release != step.to_release or one.outcome not in _SETTLED:
            return Cause.NEW, replace(step, kind=Kind.UPDATE, why="wanted revision changed")
        # Tried here and gone back, or cancelled: a person or a newer revision goes on. Until
        # then what runs is kept as it should be, like any other.
        return _heal(step, one, extensions)
    if one.drift and extensions.drift == "heal":
        return _heal(step, one, extensions)
    if one.outcome is not Outcome.SUCCEEDED:
        return Cause.TOLD, replace(step, outcome=Outcome.SUCCEEDED, why="it runs already")
    return None


def _heal(step: Step, one: Standing, extensions: Extensions) -> _Proposal:
    """Put what runs right again, whichever release that is."""
    if not one.drift or extensions.drift != "heal":
        return None
    why = f"drift: {one.drift}"
    return Cause.REPAIR, replace(step, kind=Kind.UPDATE, to_release=one.release, why=why, heal=True)


def _failed(step: Step, one: Standing, extensions: Extensions) -> _Proposal:
    runs = one.release or one.good_release
    if one.failed_kind is Kind.DELETE:
        # The way back leads through DELETED: what is half taken off is no ground to update.
        return Cause.RETRY, replace(
            step, kind=Kind.DELETE, why="finish the delete", attempt=one.attempt + 1
        )
    if one.wanted_release != step.to_release:
        kind = Kind.UPDATE if runs else Kind.INSTALL
        return Cause.NEW, replace(step, kind=kind, why="a newer revision is wanted")
    retry = replace(step, kind=one.failed_kind, why=f"retry after {one.error or 'a cancel'}")
    retry = replace(retry, attempt=one.attempt + 1, heal=one.healing)
    if one.healing:
        return Cause.REPAIR, replace(retry, to_release=one.good_release or step.to_release)
    cls = one.error or ErrorClass.INTERNAL
    if not one.cancelled and retries_left(cls, one.attempt, extensions.failure.retries):
        if one.failed_kind is Kind.ROLLBACK:
            retry = replace(retry, to_release=one.good_release)
            return Cause.REPAIR, retry
        return Cause.RETRY, retry
    return _going_back(step, one, extensions, cls)


def _going_back(step: Step, one: Standing, extensions: Extensions, cls: ErrorClass) -> _Proposal:
    """Prove the previous revision, when there is one and the policy says so."""
    wanted_back = one.cancelled or (
        POLICY[cls].rolls_back and extensions.failure.then == "rollback"
    )
    if one.failed_kind is Kind.UPDATE and one.good_release and wanted_back:
        why = "cancelled" if one.cancelled else f"retries are spent after {cls}"
        back = replace(step, kind=Kind.ROLLBACK, to_release=one.good_release, why=why)
        return Cause.REPAIR, back
    what = "cancelled" if one.cancelled else cls
    waiting = Waiting("person", detail=f"{what}: retry, release or another revision goes on")
    return Cause.TOLD, replace(step, why=f"{what} is not retried", waiting=waiting)


_BY_STATE: Final[Mapping[State, Callable[[Step, Standing, Extensions], _Proposal]]] = {
    State.PENDING: _pending,
    State.INSTALLED: _installed,
    State.FAILED: _failed,
}
