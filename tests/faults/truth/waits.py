"""Calls with `--wait`: each has to end, with an exit code that fits what is on the nodes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Final

from tests.faults.truth.observed import Observer, Release
from tests.faults.truth.world import APPLICATION, Condition, Ran, World

BAD: Final = "1.2.0"  # serves, and never gets healthy
# A command ends so soon after its limit: the request that is under way is waited for.
AFTER_LIMIT: Final = 30.0
DONE, FAILED, NOT_FOUND, REFUSED, UNREACHABLE, TIMED_OUT = 0, 1, 3, 5, 6, 124
# Containers may have been killed just before: what answered so lately counts.
LATELY: Final = 15.0


@dataclass(frozen=True)
class Ending:
    """A call that has ended, with the problem found, or an empty text."""

    ran: Ran
    problem: str


class Waits:
    """Makes the calls, one at a time for each site, and judges how they end."""

    def __init__(self, world: World, observer: Observer) -> None:
        self._world = world
        self._observer = observer
        self._lock = threading.Lock()
        self.endings: list[Ending] = []

    def deploy(self, site: str, version: str, greeting: str, limit: float) -> None:
        """Deploy a version and wait."""
        words = ("deploy", f"{APPLICATION}@{version}", "--site", site, "--set")
        ran = self._run(limit, *words, f"greeting={greeting}")
        self._note(ran, self._judged(ran, limit) or self._fits(ran, site, version, greeting))

    def delete(self, site: str, limit: float) -> None:
        """Take the application away and wait."""
        words = ("deployment", "delete", APPLICATION, "--site", site, "--yes")
        ran = self._run(limit, *words)
        left = [] if ran.code != DONE else self._left(site)
        problem = f"exit 0, and containers are left on {', '.join(left)}" if left else ""
        self._note(ran, self._judged(ran, limit) or problem)

    def _run(self, limit: float, *words: str) -> Ran:
        timed = (*words, "--wait", "--timeout", f"{limit:.0f}s")
        self._world.note(f"begin margrave {' '.join(timed)}")
        return self._world.margrave(*timed, limit=limit + AFTER_LIMIT)

    def _note(self, ran: Ran, problem: str) -> None:
        end = f"exit {ran.code} after {ran.ended - ran.began:.0f} s"
        self._world.note(f"end margrave {' '.join(ran.words)}: {end} {problem}")
        with self._lock:
            self.endings.append(Ending(ran, problem))

    def _judged(self, ran: Ran, limit: float) -> str:
        """Return what is wrong with the code as such."""
        seconds = ran.ended - ran.began
        if ran.code is None:
            return f"it did not end within {limit + AFTER_LIMIT:.0f} s"
        if ran.code == TIMED_OUT and seconds < limit - 2:
            return f"exit 124 after {seconds:.0f} s of {limit:.0f} s"
        if ran.code in (UNREACHABLE, REFUSED) and not self._controller_was_away(ran):
            return f"exit {ran.code} although the controller was there"
        if ran.code not in (DONE, FAILED, NOT_FOUND, REFUSED, UNREACHABLE, TIMED_OUT):
            return f"exit {ran.code}"
        return ""

    def _fits(self, ran: Ran, site: str, version: str, greeting: str) -> str:
        """Return how the code contradicts what runs on the nodes."""
        requested = Release(version, greeting)
        runs = {node: self._lately(node, ran) for node in self._world.sites[site]}
        other = {
            node: str(release)
            for node, release in runs.items()
            if release is not None and release != requested
        }
        if ran.code == DONE and version == BAD:
            return "exit 0 for a release that never gets healthy"
        if ran.code == DONE and other:
            return f"exit 0, and these answer otherwise: {other}"
        if ran.code == NOT_FOUND:
            return "exit 3 for an application and a site that are there"
        if ran.code == FAILED and version != BAD and set(runs.values()) == {requested}:
            return "exit 1, and all nodes run the requested release"
        return ""

    def _lately(self, node: str, ran: Ran) -> Release | None:
        """Return what answers on a node around the end of a call; None where that is unknown."""
        at, release = self._observer.last_answer.get(node, (0.0, None))
        deadline = time.time() + LATELY
        # The observer has to have looked after the end.
        while at < ran.ended and time.time() < deadline:
            time.sleep(0.5)
            at, release = self._observer.last_answer.get(node, (0.0, None))
        return release if at > ran.ended else None

    def _left(self, site: str) -> list[str]:
        views = self._observer.look().nodes
        return [node for node in self._world.sites[site] if views[node].containers]

    def _controller_was_away(self, ran: Ran) -> bool:
        presence = self._world.presence["controller"]
        if presence.condition is not Condition.UP:
            return True
        spans = [*presence.absences, (presence.since, presence.since)]
        return any(begin < ran.ended + 5 and end > ran.began - 5 for begin, end in spans)
