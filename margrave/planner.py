"""What is to happen at a site, and what each thing waits for: a pure function of a view.

Read it in this order: `plan` walks the deployments; `proposals` says what one placement needs, by
its state alone; `gates` says what stands in the way of starting it now.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from margrave.documents._reading import OURS
from margrave.documents.extensions import Extensions, with_defaults
from margrave.gates import Batch, Cause, Gates
from margrave.lifecycle import WORKING, Kind, Outcome, State
from margrave.placement import Placed, Wish, place
from margrave.planning import SitePlan, SiteView, Standing, Step, Waiting, Wanted
from margrave.proposals import SETTLED, heal, overtaking, proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from margrave.documents.deployment import Deployment
    from margrave.documents.site import SiteDocument

_PRIORITY: Final = {"urgent": 0, "normal": 1, "bulk": 2}


def plan(view: SiteView) -> SitePlan:
    """Return all steps of a site, those that may start now and those that wait with a reason.

    A deployment whose planning fails has no steps, and holds no other.
    """
    mine = by_deployment(view.standing)
    failed: dict[str, Exception] = {}
    policies: dict[str, Extensions] = {}
    placed: dict[str, Placed] = {}
    for wanted in view.wanted:
        key = wanted.document.id
        with _isolated(failed, key):
            policies[key] = effective(wanted.document, view.document)
            placed[key] = _placed(view, wanted, policies[key], mine.get(key, {}))
    gates = Gates(view, policies)
    steps: list[Step] = []
    for one in view.standing:
        # What could not be placed is wanted all the same.
        if one.deployment not in failed:
            with _isolated(failed, one.deployment):
                steps += _removal(one, placed.get(one.deployment), policies, gates)
    planned = [one for one in view.wanted if one.document.id not in failed]
    for wanted in sorted(planned, key=lambda one: _rank(policies, one)):
        key = wanted.document.id
        with _isolated(failed, key):
            # A list first: what raises half way has no half of its steps.
            steps += list(
                _deployment(view, wanted, policies[key], placed[key], mine.get(key, {}), gates)
            )
    return SitePlan(tuple(one for one in steps if one.deployment not in failed), placed, failed)


@contextmanager
def _isolated(failed: dict[str, Exception], deployment: str) -> Iterator[None]:
    """Go on behind the block when it fails for a deployment, and keep the error."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - returned with the plan
        failed[deployment] = error


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
        data={node for node, one in mine.items() if one.keeps_data},
        well={node for node, one in mine.items() if _is_well(one)},
        leaving={node for node, one in mine.items() if _is_leaving(one)},
        left=_left(mine.values()),
    )
    there = {node for node, one in mine.items() if one.state is not State.DELETED}
    return place(wish, view.nodes, there)


def _is_well(one: Standing) -> bool:
    return one.state is State.INSTALLED and not one.degraded


def _is_leaving(one: Standing) -> bool:
    return one.state is State.DELETING or one.failed_kind is Kind.DELETE


def _left(mine: Iterable[Standing]) -> tuple[str, ...]:
    """Nodes that a deployment was taken off while its volumes stayed, the last one first."""
    gone = [one for one in mine if one.state is State.DELETED and one.keeps_data]
    gone.sort(key=lambda one: one.last, reverse=True)
    return tuple(one.node for one in gone)


def _rank(policies: Mapping[str, Extensions], wanted: Wanted) -> tuple[int, str]:
    return (_PRIORITY[policies[wanted.document.id].priority], wanted.document.name)


def _at_work(one: Standing) -> bool:
    return one.busy or one.state in WORKING


def _removal(
    one: Standing, where: Placed | None, policies: Mapping[str, Extensions], gates: Gates
) -> list[Step]:
    """Take off what Git no longer has, and what no longer belongs on its node."""
    overtakes = _at_work(one)
    if one.state is State.DELETED or (overtakes and one.leads_to is None):
        return []
    if where is not None and one.node in where.chosen:
        return []
    why = "removed from Git" if where is None else where.reason(one.node)
    again = one.failed_kind is Kind.DELETE and one.state is State.FAILED
    step = Step(
        one.deployment,
        one.node,
        Kind.DELETE,
        why,
        one.release,
        attempt=one.attempt + 1 if again else 1,
        overtakes=overtakes,
        keeps_data=one.keeps_data,
    )
    cause = Cause.RETRY if step.attempt > 1 else Cause.NEW
    # Without its document nobody knows its windows: then those of the site hold alone.
    return list(_worth_telling(gates.passed(step, cause, one, policies.get(one.deployment))))


def _worth_telling(step: Step) -> Iterable[Step]:
    """What cannot overtake yet is no step: the call at work goes on, and that is told of it."""
    if step.due or not step.overtakes:
        yield step


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
        if wanted.obstacle is not None:
            yield from _held_up(wanted, wanted.obstacle, node, one)
            continue
        if one is not None and _at_work(one):
            found = overtaking(wanted, one)
        else:
            found = proposal(wanted, node, one, policies)
        if found is None:
            continue
        # Most placements rest, so the batch is looked at when the first one does not.
        batch = batch or Batch.of(view, wanted, placed.chosen, mine, policies.strategy.batch)
        cause, step = found
        if cause is Cause.TOLD:
            yield step
        elif cause is Cause.NEW and batch.broken:
            yield from _instead(step, one, policies, gates, batch)
        else:
            yield from _worth_telling(gates.passed(step, cause, one, policies, batch))


def _held_up(wanted: Wanted, obstacle: Waiting, node: str, one: Standing | None) -> Iterable[Step]:
    """Nothing is begun and what runs stays; a call at work comes to its end."""
    if one is None or not _at_work(one):
        absent = one is None or one.state is State.DELETED
        why = "wanted here" if absent else obstacle.detail
        yield Step(wanted.document.id, node, None, why, new_placement=absent, waiting=obstacle)


def _instead(
    step: Step, one: Standing | None, policies: Extensions, gates: Gates, batch: Batch
) -> Iterable[Step]:
    """A revision that failed elsewhere at the site is not tried here: what runs is looked after."""
    if step.overtakes:
        return
    yield from _held(step, one)
    repair = heal(step, one, policies) if one and one.state is State.INSTALLED else None
    if one is not None and repair is not None and one.outcome in SETTLED:
        yield gates.passed(repair[1], repair[0], one, policies, batch)


def _held(step: Step, one: Standing | None) -> Iterable[Step]:
    """A revision that failed elsewhere at the site is not tried here."""
    why = "the wanted revision failed at this site"
    if one is None or one.outcome not in SETTLED:
        yield replace(step, kind=None, outcome=Outcome.HELD, why=why)
