"""Leads stories on one node and compares each end with a fresh install on another one."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import Engine, Lab
from tests.equivalence import views
from tests.equivalence.nodes import DEPLOYMENT, EdgeNode
from tests.equivalence.releases import MOVING, Release
from tests.equivalence.stories import Damage, Deed, Step, Stop, Story
from tests.faults import steps as fault_steps
from tests.faults.stops import Stops
from tests.support.waiting import eventually

# The lab of the tests has the first ones anyway.
NODES = {Engine.PODMAN: ("harbor-1", "harbor-2"), Engine.DOCKER: ("yard-1", "yard-2")}
Snapshot = list[dict[str, Any]]


class MovingImage:
    """An image of the lab's registry whose tag names other content now and then."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._now = 0

    def name(self, content: int) -> None:
        """Let the tag name this content."""
        if content == self._now:
            return
        name, _, tag = MOVING.partition(":")
        with tempfile.TemporaryDirectory(prefix="equivalence-") as base:
            idle = Path(__file__).parents[2] / "lab/images/idle"
            folder = Path(base) / name
            shutil.copytree(idle / "files", folder / "files")
            shutil.copy(idle / "image.toml", folder)
            (folder / f"tags/{tag}/etc").mkdir(parents=True)
            (folder / f"tags/{tag}/etc/version").write_text(f"moving {content}\n")
            self._lab.push_images(Path(base))
        self._now = content


@dataclass
class Course:
    """One story under way."""

    current: Release | None = None
    previous: Release | None = None
    before: Snapshot = field(default_factory=list)
    releases: dict[str, Release] = field(default_factory=dict)  # by the node's name for them


@dataclass(frozen=True)
class Finding:
    """The step of a story after which something was wrong, and what."""

    number: int
    step: Step
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"step {self.number}, {self.step}", *(f"  {one}" for one in self.texts)])


class Oracle:
    """Two nodes with the same engine: stories happen on one, fresh installs on the other."""

    def __init__(self, lab: Lab, subject: EdgeNode, reference: EdgeNode) -> None:
        self.subject = subject
        self.reference = reference
        self.image = MovingImage(lab)
        self.stops = Stops(lab, subject.name)
        # Counted for the figures.
        self.stories = 0
        self.steps: Counter[Deed] = Counter()
        self.installs = 0
        self._fresh: dict[Release, Future[Mapping[str, views.View]]] = {}
        self._pool = ThreadPoolExecutor(1)

    def open(self) -> None:
        """Prepare both nodes."""
        self.subject.clean()
        self.reference.clean()
        self.stops.lay_down()

    def close(self) -> None:
        """Leave both nodes as they were."""
        self._pool.shutdown()
        self.stops.take_away()
        for node in (self.subject, self.reference):
            node.clean()
            node.close()

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
            self._settle_installs()
            self.image.name(step.release.moved)
            if step.deed is not Deed.FAIL:
                self._begin_fresh(step.release)
        return DEEDS[step.deed](self, step, course)

    def _update(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=True)

    def _fail(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None
        answer = self.subject.update(step.release)
        if not answer.get("failed") or answer.get("error", {}).get("class") != "health":
            return [f"a broken release ends with {_words(answer)}"]
        if not answer.get("rolled_back"):
            return [f"the release before does not run again: {_words(answer)}"]
        stays = step.release.unchanged(course.current) if course.current else set()
        return self._judge(course.current, course, stays)

    def _rollback(self, step: Step, course: Course) -> list[str]:
        answer = self.subject.rollback()
        if answer.get("failed"):
            return [f"rollback: {_words(answer)}"]
        target = course.releases.get(str(answer.get("release")))
        if target not in (course.previous, course.current):
            return [f"rollback: {answer.get('release')} is neither the release before nor current"]
        return self._stand(target, course, kept=True)

    def _heal(self, step: Step, course: Course) -> list[str]:
        assert course.current is not None
        hurt = self._damage(step.damage, course)
        answer = self.subject.update(course.current)
        if answer.get("failed"):
            return [f"heal: {_words(answer)}"]
        if hurt and not answer.get("changed"):
            return [f"heal: nothing was changed after: {step.damage} of {sorted(hurt)}"]
        names = {one.name for one in course.current.services}
        return self._judge(course.current, course, names - course.current.with_dependents(hurt))

    def _kill(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None and step.stop is not None
        self.stops.arm(_fault_step(step.stop), "kill")
        self.subject.update(step.release)
        self.stops.disarm()
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=True)

    def _power(self, step: Step, course: Course) -> list[str]:
        assert step.release is not None and step.stop is not None
        self.stops.arm(_fault_step(step.stop), "halt")
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(self.subject.update, step.release)
            eventually(lambda: call.done() or self.stops.reached(), 240, "the module stops", 0.01)
            self.subject.cut_power()
        self.stops.disarm()
        answer = self.subject.update(step.release)
        return self._arrived(answer, step.release, course, kept=False)

    def _reboot(self, step: Step, course: Course) -> list[str]:
        assert course.current is not None
        self.subject.cut_power()
        answer = self.subject.update(course.current)
        if answer.get("failed"):
            return [f"after a reboot: {_words(answer)}"]
        return self._judge(course.current, course, set())

    def _delete(self, step: Step, course: Course) -> list[str]:
        answer = self.subject.delete()
        course.current = course.previous = None
        course.before = []
        if answer.get("failed"):
            return [f"delete: {_words(answer)}"]
        left = self.subject.leftovers()
        return [f"delete leaves {', '.join(left)}"] if left else []

    # -- judging --------------------------------------------------------------------------------

    def _arrived(
        self, answer: Mapping[str, Any], release: Release, course: Course, *, kept: bool
    ) -> list[str]:
        """Judge an update that had to succeed."""
        if answer.get("failed"):
            return [f"update: {_words(answer)}"]
        course.releases[str(answer.get("release"))] = release
        found = self._stand(release, course, kept=kept)
        if not found:
            again = self.subject.update(release)
            if again.get("failed") or again.get("changed"):
                found = [f"the same call again: {_words(again)}, changed: {again.get('changed')}"]
        return found

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
        found = _missing_sources(snapshot) + _wrong_content(snapshot, release)
        found += views.differences(views.views(snapshot), self._fresh_views(release))
        found += [
            f"{name}: was restarted, and did not change"
            for name in sorted(stays)
            if before.get(name) != now.get(name)
        ]
        return found

    def _damage(self, damage: Damage | None, course: Course) -> set[str]:
        """Do the harm; the services that it is done to."""
        engine, victim = self.subject.engine, course.before[0]
        name, service = victim["Id"], views.service_of(victim)
        everyone = " ".join(str(one["Id"]) for one in course.before)
        if damage is Damage.SOURCE:
            sources = sorted(
                {
                    (str(mount["Source"]), views.service_of(told))
                    for told in course.before
                    for mount in told.get("Mounts") or []
                    if mount["Type"] == "bind" and DEPLOYMENT in str(mount["Source"])
                }
            )
            if not sources:
                return set()
            self.subject.run(f"rm -rf '{sources[0][0]}'")
            return {owner for source, owner in sources if source == sources[0][0]}
        commands = {
            Damage.REMOVE: f"{engine} rm -f {name}",
            Damage.REMOVE_ALL: f"{engine} rm -f {everyone}",
            Damage.STOP: f"{engine} stop {name}",
        }
        self.subject.run(f"{commands[damage or Damage.STOP]} >/dev/null")
        if damage is Damage.REMOVE_ALL:
            return {views.service_of(one) for one in course.before}
        return {service}

    # -- fresh installs -------------------------------------------------------------------------

    def _begin_fresh(self, release: Release) -> None:
        """Install the release on the empty node while the other one is at work."""
        if release not in self._fresh:
            self.installs += 1
            self._fresh[release] = self._pool.submit(self._install, release)

    def _install(self, release: Release) -> Mapping[str, views.View]:
        self.reference.clean()
        answer = self.reference.update(release)
        assert not answer.get("failed"), f"fresh install: {_words(answer)}"
        return views.views(self.reference.snapshot(release))

    def _settle_installs(self) -> None:
        """Wait for installs under way: they pull what the tag names now."""
        for one in self._fresh.values():
            one.exception()

    def _fresh_views(self, release: Release) -> Mapping[str, views.View]:
        return self._fresh[release].result()


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
    """Whether the step means something now."""
    if step.deed is Deed.ROLLBACK:
        return course.previous is not None
    needs = (Deed.HEAL, Deed.REBOOT, Deed.DELETE, Deed.FAIL)
    return course.current is not None or step.deed not in needs


def _missing_sources(snapshot: Snapshot) -> list[str]:
    return [
        f"{views.name_of(told)}: mount source {source} is missing"
        for told in snapshot
        for source in told["Missing"]
    ]


def _wrong_content(snapshot: Snapshot, release: Release) -> list[str]:
    """Compare what containers find with what the author and the operator wrote."""
    found = []
    for told in snapshot:
        name = views.service_of(told)
        if name not in {one.name for one in release.services}:
            continue  # the comparison with the fresh install says so
        for path, text in sorted(release.expected(name).items()):
            there = content(told["Trees"], path)
            if there != text:
                found.append(f"{name}: {path} holds {there!r}, not {text!r}")
    return found


def content(trees: Mapping[str, Any], path: str) -> str | None:
    """Return the text that a container finds at a path, or None where there is no file."""
    entry = (trees.get(path) or {}).get("")
    return entry[3] if entry and len(entry) > 3 else None


def _fault_step(stop: Stop) -> fault_steps.Step:
    return fault_steps.Step(stop.event, nth=stop.nth)


def _words(answer: Mapping[str, Any]) -> str:
    told = {key: answer[key] for key in ("error", "msg", "rc", "module_stderr") if answer.get(key)}
    return json.dumps(told) if told else f"{answer.get('state')}"
