"""Run stories on a node and compare each step with a fresh install on another node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lab import Engine, Lab
from tests.equivalence import views
from tests.equivalence.fresh import FreshInstalls
from tests.equivalence.harm import harm
from tests.equivalence.judging import failure_of, missing_sources, wrong_content
from tests.equivalence.moving import MovingImage
from tests.equivalence.nodes import EdgeNode, Snapshot
from tests.equivalence.releases import Release
from tests.equivalence.stories import Deed, Step, Stop, Story
from tests.faults import steps as fault_steps
from tests.faults.stops import Stops
from tests.support.waiting import eventually

# The lab of the tests has the first ones anyway.
NODES = {Engine.PODMAN: ("harbor-1", "harbor-2"), Engine.DOCKER: ("yard-1", "yard-2")}


@dataclass
class Course:
    """One story under way."""

    current: Release | None = None
    previous: Release | None = None
    before: Snapshot = field(default_factory=list)
    releases: dict[str, Release] = field(default_factory=dict)  # by the node's name for them


@dataclass(frozen=True)
class Finding:
    """Step of a story after which something was wrong, with the differences."""

    number: int
    step: Step
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            [f"step {self.number}, {self.step}", *(f"  {text}" for text in self.texts)]
        )


class Oracle:
    """Two nodes with the same engine: stories happen on one, fresh installs on the other."""

    def __init__(self, lab: Lab, subject: EdgeNode, reference: EdgeNode) -> None:
        self.subject = subject
        self.fresh = FreshInstalls(reference)
        self.image = MovingImage(lab)
        self.stops = Stops(lab, subject.name)
        # Counted for the figures.
        self.stories = 0
        self.steps: Counter[Deed] = Counter()
        self.stopped = 0

    def open(self) -> None:
        """Prepare both nodes."""
        self.subject.clean()
        self.stops.lay_down()

    def close(self) -> None:
        """Leave both nodes as they were."""
        self.fresh.close()
        self.stops.take_away()
        self.subject.clean()
        self.subject.close()

    def lead(self, story: Story) -> Finding | None:
        """Lead a story to its end, or to the first step after which something is wrong."""
        self.subject.clean()
        self.stories += 1
        course = Course()
        for number, step in enumerate(story, 1):
            if not _possible(step, course):
                continue
            self.steps[step.deed] += 1
            texts = self._take(step, course)
            if texts:
                return Finding(number, step, tuple(texts))
        return None

    # -- steps ----------------------------------------------------------------------------------

    def _take(self, step: Step, course: Course) -> list[str]:
        if step.release is not None:
            self.fresh.settle()
            self.image.name(step.release.moved)
            if step.deed is not Deed.FAIL:
                self.fresh.begin(step.release)
        return DEEDS[step.deed](self, step, course)

    def _update(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=True)

    def _fail(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None
        answer = self.subject.update(step.release)
        if not answer.get("failed") or answer.get("error", {}).get("class") != "health":
            return [f"a broken release ends with {failure_of(answer)}"]
        if not answer.get("rolled_back"):
            return [f"the release before does not run again: {failure_of(answer)}"]
        stays = step.release.unchanged(course.current) if course.current else set()
        return self._judge(course.current, course, stays)

    def _rollback(self, step: Step, course: Course) -> list[str]:
        answer = self.subject.rollback()
        if answer.get("failed"):
            return [f"rollback: {failure_of(answer)}"]
        target = course.releases.get(str(answer.get("release")))
        if target not in (course.previous, course.current):
            return [f"rollback: {answer.get('release')} is neither the release before nor current"]
        return self._stand(target, course, kept=True)

    def _heal(self, step: Step, course: Course) -> list[str]:
        assert course.current is not None and step.damage is not None
        hurt = harm(self.subject, step.damage, course.before)
        answer = self.subject.update(course.current)
        if answer.get("failed"):
            return [f"heal: {failure_of(answer)}"]
        if hurt and not answer.get("changed"):
            return [f"heal: nothing was changed after: {step.damage} of {sorted(hurt)}"]
        names = {service.name for service in course.current.services}
        return self._judge(course.current, course, names - course.current.with_dependents(hurt))

    def _kill(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None and step.stop is not None
        self.stops.arm(_fault_step(step.stop), "kill")
        self.subject.update(step.release)
        self.stopped += self.stops.reached()  # a call may have ended before its step came
        self.stops.disarm()
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=True)

    def _power(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None and step.stop is not None
        self.stops.arm(_fault_step(step.stop), "halt")
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(self.subject.update, step.release)
            eventually(lambda: call.done() or self.stops.reached(), 240, "the module stops", 0.01)
            self.stopped += self.stops.reached()
            self.subject.cut_power()
        self.stops.disarm()
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=False)

    def _reboot(self, step: Step, course: Course) -> list[str]:
        assert course.current is not None
        self.subject.cut_power()
        answer = self.subject.update(course.current)
        if answer.get("failed"):
            return [f"after a reboot: {failure_of(answer)}"]
        return self._judge(course.current, course, set())

    def _delete(self, step: Step, course: Course) -> list[str]:
        answer = self.subject.delete()
        course.current = course.previous = None
        course.before = []
        if answer.get("failed"):
            return [f"delete: {failure_of(answer)}"]
        left = self.subject.leftovers()
        return [f"delete leaves {', '.join(left)}"] if left else []

    # -- judging --------------------------------------------------------------------------------

    def _arrived(
        self, answer: Mapping[str, Any], release: Release, course: Course, *, kept: bool
    ) -> list[str]:
        """Judge an update that had to succeed."""
        if answer.get("failed"):
            return [f"update: {failure_of(answer)}"]
        course.releases[str(answer.get("release"))] = release
        findings = self._stand(release, course, kept=kept)
        if not findings:
            again = self.subject.update(release)
            if again.get("failed") or again.get("changed"):
                findings = [
                    f"the same call again: {failure_of(again)}, changed: {again.get('changed')}"
                ]
        return findings

    def _stand(self, release: Release | None, course: Course, *, kept: bool) -> list[str]:
        """Judge the containers when another release may have become the current one."""
        assert release is not None
        stays = release.unchanged(course.current) if course.current and kept else set()
        if release != course.current:
            course.current, course.previous = release, course.current
        return self._judge(release, course, stays)

    def _judge(self, release: Release | None, course: Course, stays: set[str]) -> list[str]:
        """Compare the containers with a fresh install, with their author and with before."""
        assert release is not None
        snapshot = self.subject.snapshot(release)
        before, now = views.identities(course.before), views.identities(snapshot)
        course.before = snapshot
        findings = missing_sources(snapshot) + wrong_content(snapshot, release)
        findings += views.differences(views.views(snapshot), self.fresh.containers(release))
        findings += [
            f"{name}: was restarted, and did not change"
            for name in sorted(stays)
            if before.get(name) != now.get(name)
        ]
        return findings


@contextmanager
def opened(lab: Lab, engine: Engine) -> Iterator[Oracle]:
    """Two nodes of a lab, made where they are missing, and left as they were."""
    names = NODES[engine]
    lab.up(names, engine=engine)
    oracle = Oracle(lab, *(EdgeNode(lab, name, engine) for name in names))
    oracle.open()
    try:
        yield oracle
    finally:
        oracle.close()


DEEDS: Mapping[Deed, Callable[[Oracle, Step, Course], list[str]]] = {
    Deed.UPDATE: Oracle._update,
    Deed.FAIL: Oracle._fail,
    Deed.ROLLBACK: Oracle._rollback,
    Deed.HEAL: Oracle._heal,
    Deed.KILL: Oracle._kill,
    Deed.POWER: Oracle._power,
    Deed.REBOOT: Oracle._reboot,
    Deed.DELETE: Oracle._delete,
}


def _possible(step: Step, course: Course) -> bool:
    """Return whether the step is possible in the present state."""
    if step.deed is Deed.ROLLBACK:
        return course.previous is not None
    needs = (Deed.HEAL, Deed.REBOOT, Deed.DELETE, Deed.FAIL)
    return course.current is not None or step.deed not in needs


def _fault_step(stop: Stop) -> fault_steps.Step:
    return fault_steps.Step(stop.event, nth=stop.nth)
