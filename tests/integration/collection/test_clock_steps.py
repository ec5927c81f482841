"""Modules whose clock is stepped, before a call and in the middle of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.clocks import NodeClock
from tests.support.engined import Engined
from tests.support.shop import Step

pytestmark = pytest.mark.lab

HOUR = 3600
OFFSETS = {"-6h": -6 * HOUR, "+6h": 6 * HOUR, "+1d": 24 * HOUR}
# Phases that last longer than a blink, so that the step falls into them.
PHASES = {"install": "prefetch", "update": "switch", "rollback": "switch", "delete": "delete"}
QUICK = {("podman", "update", "-6h")}


def _cases() -> Iterator[Any]:
    for engine in ("podman", "docker"):
        for module in PHASES:
            for offset in OFFSETS:
                case = (engine, module, offset)
                marks = [] if case in QUICK else [pytest.mark.full]
                yield pytest.param(*case, id="-".join(case), marks=marks)


@pytest.fixture
def clock(subject: Engined) -> Iterator[NodeClock]:
    """The clock of the modules on the subject's node; right until a test steps it."""
    clock = NodeClock(subject.lab, subject.node)
    clock.install()
    yield clock
    clock.remove()


def story(shop: Engined, module: str) -> tuple[list[Step], Step, tuple[str, str | None]]:
    """Return the calls before, the call under test, and the state and version it leads to."""
    install = shop.install("1.0.0", **shop.fence(1))
    update = shop.update("1.1.0", **shop.fence(2))
    if module == "install":
        return [], install, ("INSTALLED", "1.0.0")
    if module == "update":
        return [install], update, ("INSTALLED", "1.1.0")
    if module == "rollback":
        return [install, update], shop.rollback(**shop.fence(3)), ("INSTALLED", "1.0.0")
    return [install], shop.delete(**shop.fence(2)), ("DELETED", None)


@pytest.mark.parametrize(("subject", "module", "offset"), list(_cases()), indirect=["subject"])
def test_a_step_of_the_clock_changes_nothing(
    subject: Engined, clock: NodeClock, module: str, offset: str
) -> None:
    """The call ends as with a right clock, its repetition changes nothing, and older ones fail."""
    before, step, end = story(subject, module)
    if before:
        subject.call(*before)
    running = subject.begin(step)
    # A call may be over before its phase is seen: then the step comes between two calls.
    clock.set_at(PHASES[module], subject.deployment, OFFSETS[offset])
    (ended,) = running.results()

    again = replace(step, arguments={**step.arguments, **subject.fence(9)})
    late = subject.update("1.1.0", **subject.fence(1, epoch=1))
    look = Step("workload_info", {"deployment": subject.deployment})
    repeated, refused, seen = subject.call(again, late, look)

    assert (ended["state"], ended["version"]) == end, ended["error"]
    assert (repeated["state"], repeated["changed"]) == (end[0], False), repeated
    assert refused["error"]["code"] == "fence-passed"
    found = [(one["state"], one["version"], one["drift"]) for one in seen["workloads"]]
    assert found == ([] if module == "delete" else [(*end, [])])


@pytest.mark.parametrize("subject", ["podman"], indirect=True)
def test_a_late_call_stays_refused_after_an_excursion_of_the_clock(
    subject: Engined, clock: NodeClock
) -> None:
    """A deletion made in a wrong year is remembered when the clock is right again."""
    clock.set(-20_000 * 24 * HOUR)
    subject.call(subject.install("1.0.0", **subject.fence(5)), subject.delete(**subject.fence(6)))
    clock.set(0)
    other = replace(subject, deployment="0b9c1f6e-0d5a-4a53-9f0e-2f6d7f0a1b2c")
    other.call(other.install("1.0.0", **other.fence(7)), other.delete(**other.fence(8)))

    (late,) = subject.call(subject.install("1.0.0", **subject.fence(4)))

    assert late["error"]["code"] == "fence-passed"
