"""Where lives are led: a node of the lab, a runner of its own, a repository that it reads."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from lab import Engine, Lab
from tests.faults import on_node
from tests.faults.stops import Stops
from tests.support.faked_clock import FakedClock
from tests.support.repository import Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

SITE = "harbor"
VERSIONS = ("1.0.0", "1.1.0", "1.2.0")


class Ground:
    """One node and all that works on it."""

    def __init__(
        self,
        lab: Lab,
        node: str,
        base: Path,
        engine: Engine = Engine.PODMAN,
        *,
        clocked: bool = False,
    ) -> None:
        self.lab = lab
        self.node = node
        self.engine = engine
        self.stops = Stops(lab, node)
        self.repository = Repository(base)
        self.components = {
            version: storefront_component(self.repository.tree, version) for version in VERSIONS
        }
        self.repository.push()
        self.clock = FakedClock(base) if clocked else None
        remote = str(self.repository.bare)
        self.runner = RunnerProcess(base / "runner", remote, SITE, clock=self.clock)
        self.deployment = ""
        self.seen = 0  # transitions of this deployment that were there before
        self.undo_later: Callable[[], None] = _nothing

    def open(self) -> None:
        """Start the runner and onboard the node."""
        self.lab.heal(self.node)
        self._clean()
        self._run(TIDY)
        self.stops.lay_down()
        self.runner.start()
        address = self.lab.node(self.node).address
        self.runner.add(self.node, address, self.lab.key, self.lab.host_key(self.node))

    def close(self) -> None:
        """End the runner and leave the node as it was."""
        self.lab.heal(self.node)
        self.stops.disarm()
        self.runner.remove(self.node)
        self.runner.kill(signal.SIGTERM)
        self.stops.take_away()
        self._clean()

    def want(self, version: str | None, timeout: str = "2m00s") -> None:
        """Push what should run: a version, or nothing any more."""
        if version is None:
            self.repository.remove(self._document)
        else:
            self.repository.deploy(
                version,
                identifier=self.deployment,
                component=self.components[version],
                timeout=timeout,
                # One attempt, soon repeated where the site is to blame: a life is short.
                failure={
                    "retries": {"health": 0, "engine": 0},
                    "backoff": "1s",
                    "then": "rollback",
                },
            )
        self.repository.push()
        self.runner.hint()

    def set_clock(self, seconds: int) -> None:
        """Set the runner's wall clock, so far from the real one."""
        assert self.clock is not None, "these faults need a runner under a clock that can be set"
        self.clock.set(seconds)

    def begin(self) -> None:
        """From here on `told` is about what comes."""
        self.seen = len(self.runner.told(self.deployment))
        self.undo_later = _nothing

    def told(self) -> list[tuple[str, str]]:
        """Transitions since `begin`, as from and to."""
        return [
            (one["from"] or "", one["to"]) for one in self.runner.told(self.deployment)[self.seen :]
        ]

    def classes(self) -> list[str]:
        """Error classes of what failed since `begin`."""
        told = self.runner.told(self.deployment)[self.seen :]
        return [one["error"]["class"] for one in told if one["to"] == "FAILED" and one["error"]]

    def has_told(self, cls: str) -> bool:
        """Whether a failure of the class was told."""
        return cls in self.classes()

    def is_waiting_for_node(self) -> bool:
        """Whether the runner says that it waits for the node."""
        placement = self.runner.placements(self.deployment).get(self.node)
        return bool(placement and placement["waiting"] and '"node"' in placement["waiting"])

    def standing(self) -> tuple[str, str, str | None]:
        """State, outcome and version of what runs."""
        one = self.runner.placements(self.deployment).get(self.node)
        return (one["state"], one["outcome"], one["version"]) if one else ("", "", None)

    def recover(self) -> None:
        """After a life that went wrong: nothing of it is in the way of the next one."""
        self.stops.disarm()
        self.lab.heal(self.node)
        if (self.repository.tree / self._document).exists():
            self.want(None)
        eventually(lambda: self.standing()[0] in ("", "DELETED"), 300, "the life is cleared away")
        self._clean()
        self._run(TIDY)

    def _clean(self) -> None:
        clean(self.lab, self.node, self.engine)

    def _run(self, script: str) -> str:
        """What a script says on the node, with the name of its engine filled in."""
        return self.lab.ssh(self.node, script.replace("ENGINE", self.engine)).stdout

    @property
    def _document(self) -> str:
        return f"deployments/{SITE}/{self.deployment}.yaml"

    def kill_module(self) -> None:
        """kill -9 of the module that stands on the node, seen from this machine."""
        inside = int(self.lab.inside(self.node, Path(on_node.REACHED)).read_text())
        mine = self.lab.inside(self.node, Path("/"))
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and _is(process, inside, mine):
                os.kill(int(process.name), signal.SIGKILL)

    def leftovers(self, *, deleted: bool) -> list[str]:
        """What is on the node, or of the runner, and should not be."""
        found: list[str] = []
        looks = LOOKS + (LOOKS_WHEN_DELETED if deleted else LOOKS_WHEN_THERE)

        def gone() -> bool:
            found[:] = self._run(looks).splitlines()
            found.extend(f"run folder {name}" for name in self.runner.runs())
            return not found

        try:
            # The end is told before the last process has gone home.
            eventually(gone, 60, pause=0.3)
        except AssertionError:
            return found
        return []


# What was there before anything was deployed stays there, and would look like a leftover.
TIDY = "ENGINE image prune --all --force >/dev/null; rm -rf /tmp/ansible_*"
# Each line that these print is something left over.
LOOKS = """
ls /run/margrave 2>/dev/null | sed 's/^/lock /'
find /tmp /var/tmp /root/.ansible/tmp /home/margrave/.ansible/tmp -mindepth 1 -maxdepth 1 \
  ! -name 'systemd-private-*' ! -name '.*-unix' 2>/dev/null | sed 's/^/temporary /'
find /var/lib/margrave \\( -name '*.tmp' -o -name '*.new' \\) | sed 's/^/half written /'
ps -eo args | grep -E '[d]ocker-compose|[A]nsiballZ|[m]argrave-code|[p]ython3 *$' |
  sed 's/^/process /'
ENGINE ps -a --filter label=margrave.deployment --format '{{.State}} {{.Names}}' |
  grep -v ^running | sed 's/^/container /'
"""
LOOKS_WHEN_THERE = """
count() { [ "$2" = "$3" ] || echo "$2 $1, not $3"; }
count containers "$(ENGINE ps -q --filter label=margrave.deployment | wc -l)" 2
count networks "$(ENGINE network ls -q --filter label=margrave.deployment | wc -l)" 1
count volumes "$(ENGINE volume ls -q --filter label=margrave.deployment | wc -l)" 1
"""
LOOKS_WHEN_DELETED = """
ENGINE ps -aq --filter label=margrave.deployment | sed 's/^/container /'
ENGINE network ls -q --filter label=margrave.deployment | sed 's/^/network /'
ENGINE images --format '{{.Repository}}:{{.Tag}}' | grep storefront | sed 's/^/image /'
find /var/lib/margrave -type f ! -name fence.json ! -path '*/fences/*' | sed 's/^/file /'
ENGINE volume ls -q --filter label=margrave.deployment | xargs -r ENGINE volume rm >/dev/null
"""


def _is(process: Path, inside: int, root: Path) -> bool:
    """Whether it is the node's process of that number."""
    try:
        status = (process / "status").read_text()
        numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
        return len(numbers) > 2 and int(numbers[-1]) == inside and (process / "root").samefile(root)
    except (OSError, StopIteration):
        return False


def _nothing() -> None:
    """Nothing is to be undone."""
