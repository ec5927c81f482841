"""A life: install, update, a release that fails, a rollback, delete; how each is judged."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.faults.deeds import FAULTS
from tests.faults.ground import Ground
from tests.faults.steps import STEPS, Deed
from tests.support.clients import Client
from tests.support.waiting import eventually

LIMIT = 300  # seconds until an operation must have come to its end, faults and retries included


@dataclass(frozen=True)
class Case:
    """One operation with one fault at one of its steps; without a fault it just goes through."""

    deed: Deed
    step: str = ""
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.deed}: {self.fault or 'nothing'}@{self.step or 'no step'}"


@dataclass(frozen=True)
class Course:
    """What a deed asks for, and how it has to end."""

    version: str | None
    before: str | None
    told: tuple[str, ...]
    ends: tuple[str, str, str | None]
    classes: tuple[str, ...] = ()


COURSES: Mapping[Deed, Course] = {
    Deed.INSTALL: Course(
        "1.0.0",
        None,
        ("", "PENDING", "INSTALLING", "INSTALLED"),
        ("INSTALLED", "succeeded", "1.0.0"),
    ),
    Deed.UPDATE: Course(
        "1.1.0",
        "1.0.0",
        ("INSTALLED", "UPDATING", "INSTALLED"),
        ("INSTALLED", "succeeded", "1.1.0"),
    ),
    Deed.FAILING: Course(
        "1.2.0",
        "1.1.0",
        ("INSTALLED", "UPDATING", "FAILED", "ROLLINGBACK", "INSTALLED"),
        ("INSTALLED", "rolled-back", "1.1.0"),
        ("health",),
    ),
    Deed.ROLLBACK: Course(
        "1.0.0",
        "1.1.0",
        ("INSTALLED", "UPDATING", "INSTALLED"),
        ("INSTALLED", "succeeded", "1.0.0"),
    ),
    Deed.DELETE: Course(
        None, "1.0.0", ("INSTALLED", "DELETING", "DELETED"), ("DELETED", "succeeded", None)
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What came of a case; right when there are no findings."""

    case: Case
    seconds: float
    gap: float
    findings: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.case}: {'; '.join(self.findings) or 'right'}"


def lead(ground: Ground, cases: Sequence[Case]) -> Iterator[Verdict]:
    """Lead one deployment through these cases, in the order of a life; what is wrong ends it."""
    ground.deployment = str(uuid.uuid4())
    for case in cases:
        verdict = suffer(ground, case)
        yield verdict
        if verdict.findings:
            ground.recover()
            return


def suffer(ground: Ground, case: Case) -> Verdict:
    """Ask for the deed, strike at the step, wait for the end, and judge."""
    course, begin = COURSES[case.deed], time.monotonic()
    ground.begin()
    if case.fault:
        ground.stops.arm(STEPS[case.deed][case.step], FAULTS[case.fault].act)
    address = ground.lab.node(ground.node).address
    findings: list[str] = []
    with Client(address) as client:
        ground.want(course.version, "0m04s" if case.deed is Deed.FAILING else "2m00s")
        try:
            if case.fault:
                ground.stops.wait()
                struck = time.monotonic()
                findings += _served_until(case, client, begin, struck)
                FAULTS[case.fault].strike(ground)
            eventually(lambda: ground.standing() == course.ends, LIMIT, pause=0.1)
        except (AssertionError, RuntimeError) as error:
            findings.append(f"{error}; stands as {ground.standing()}, told {ground.told()}")
        finally:
            ground.stops.disarm()
            ground.undo_later()
    findings += _told(ground, case, course)
    findings += _page(ground, course)
    findings += ground.leftovers(deleted=case.deed is Deed.DELETE)
    return Verdict(case, time.monotonic() - begin, client.longest_gap(), tuple(findings))


def _served_until(case: Case, client: Client, begin: float, struck: float) -> list[str]:
    """The old version answers everything until a module stands before the switch."""
    old = COURSES[case.deed].before
    if old is None or not STEPS[case.deed][case.step].before_switch:
        return []
    bad = [one for one in client.between(begin, struck) if one.version != old]
    if not bad:
        return []
    last = bad[-1]
    when = f"sent after {bad[0].at - begin:.2f} to {last.at - begin:.2f} s, struck at"
    when += f" {struck - begin:.2f} s, the last one waited {last.took:.2f} s"
    return [f"{len(bad)} requests before the switch got {bad[0].version}, not {old} ({when})"]


def _told(ground: Ground, case: Case, course: Course) -> list[str]:
    """The reported way is the table's, each step once, and each failure has its class."""
    told, findings = ground.told(), []
    expected = list(pairwise(course.told))
    classes = list(course.classes)
    if case.fault and FAULTS[case.fault].told:
        # If it ended, it was told and begun again, perhaps more than once.
        working = course.told[-2] if case.deed is not Deed.FAILING else course.told[1]
        told = _without_retries(told, working)
        classes += [one for one in ground.classes() if one in FAULTS[case.fault].told]
    if told != expected:
        findings.append(f"told {told}, not {expected}")
    if sorted(ground.classes()) != sorted(classes):
        findings.append(f"error classes {ground.classes()}, not {classes}")
    return findings


def _without_retries(told: list[tuple[str, str]], working: str) -> list[tuple[str, str]]:
    left: list[tuple[str, str]] = []
    for one in told:
        if one == ("FAILED", working) and left and left[-1] == (working, "FAILED"):
            left.pop()
        else:
            left.append(one)
    return left


def _page(ground: Ground, course: Course) -> list[str]:
    """What runs is what is told, asked of the application itself."""
    client = Client(ground.lab.node(ground.node).address)
    wanted = course.ends[2]
    try:
        eventually(lambda: client.ask() == wanted, 60)
    except AssertionError:
        return [f"the page answers {client.ask()}, not {wanted}"]
    return []
