# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is it healthy? One verdict over containers, pure, and the loop that waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._errors import HealthError
from ansible_collections.margrave.edge.plugins.module_utils._record import record

# A container that the engine started again this often will not stay up: no need to wait longer.
CRASH_LOOP = 3
STAYS_DOWN = ("", "no", "on-failure")
ENDED = ("exited", "dead")


@record
class Verdict:
    """What is certain by now."""

    failed: tuple[str, ...]
    waiting: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Nothing failed and nothing has to be waited for."""
        return not self.failed and not self.waiting


@record
class Judge:
    """What to expect: each service's restart policy, and what was so before."""

    services: Mapping[str, str]
    grace: float
    restarts_before: dict[str, int]
    ran_before: frozenset
    # Every container has to run for the grace, and a single restart is a failure.
    strict: bool = False

    def verdict(self, containers: Iterable[Container], steady: Mapping[str, float]) -> Verdict:
        """Judge containers; `steady` tells for how many seconds each has been seen as it is."""
        failed: list[str] = []
        waiting: list[str] = []
        containers = list(containers)
        for service in sorted(self.services):
            mine = [one for one in containers if one.service == service]
            if not mine:
                waiting.append(f"{service} has no container yet")
            for one in mine:
                self._judge(one, steady.get(one.id, 0.0), failed, waiting)
        return Verdict(tuple(failed), tuple(waiting))

    def _judge(self, one: Container, steady: float, failed: list[str], waiting: list[str]) -> None:
        restarts = one.restarts - self.restarts_before.get(one.id, 0)
        policy, most = self.services[one.service].partition(":")[::2]
        if restarts >= (1 if self.strict else CRASH_LOOP):
            times = "once" if restarts == 1 else f"{restarts} times"
            failed.append(f"{one.service} crashed {times} (exit code {one.exit_code})")
        elif one.health == "unhealthy":
            failed.append(f"{one.service} is unhealthy")
        elif one.state in ENDED and policy in STAYS_DOWN:
            if not one.exit_code:
                return  # a job that is done
            # Between an end and the next start a container may be seen as ended, too.
            again = policy == "on-failure" and (restarts < int(most) if most else True)
            told = waiting if again and steady < self.grace else failed
            told.append(f"{one.service} ended with exit code {one.exit_code}")
        elif one.state != "running":
            waiting.append(f"{one.service} is {one.state}")
        elif one.health == "starting":
            waiting.append(f"{one.service} is starting")
        elif steady < self.grace and self._must_run(one):
            waiting.append(f"{one.service} has run for {steady:.0f} of {self.grace:.0f} s")

    def _must_run(self, container: Container) -> bool:
        """Whether a container has to run for the grace: one that says of itself nothing else."""
        return self.strict or (not container.health and container.id not in self.ran_before)

    def count_from(self, containers: Iterable[Container]) -> None:
        """Lower the counts of restarts where an engine began to count anew."""
        before = self.restarts_before
        for one in containers:
            before[one.id] = min(before.get(one.id, 0), one.restarts)


def wait(
    judge: Judge,
    look: Callable[[], list[Container]],
    until: float,
    limit: float,
    safe_point: Callable[[], None],
) -> list[Container]:
    """Wait until all is healthy and give the containers; HealthError when that fails."""
    since: dict[tuple[str, str], float] = {}
    pause = 0.1
    while True:
        # First as well: what was started this very moment is not healthy yet.
        safe_point()
        time.sleep(pause)
        pause = min(pause * 1.5, 1.0 if judge.strict else 0.25)
        now = time.monotonic()
        containers = look()
        judge.count_from(containers)
        since = {(one.id, one.state): since.get((one.id, one.state), now) for one in containers}
        steady = {one: now - start for (one, _state), start in since.items()}
        verdict = judge.verdict(containers, steady)
        if verdict.healthy:
            return containers
        if verdict.failed:
            raise _unhealthy("; ".join(verdict.failed))
        if now > until:
            raise _unhealthy(f"not healthy after {limit:.0f} s: " + "; ".join(verdict.waiting))


def _unhealthy(finding: str) -> HealthError:
    return HealthError("not-healthy", finding, "look at the container's log on the node")
