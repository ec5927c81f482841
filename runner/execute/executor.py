"""The runner's hands: starts runs, lets them overlap, and leaves nothing behind at the end."""

from __future__ import annotations

import queue
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from runner.execute import processes
from runner.execute.content import collections_path
from runner.execute.direct import Direct
from runner.execute.environment import environment
from runner.execute.errand import COLLECTION, Errand, Outcome
from runner.execute.folders import Folders
from runner.execute.jump import proxy_command
from runner.execute.knownhosts import KnownHosts
from runner.execute.lines import Lines
from runner.execute.looks import Looks
from runner.execute.phases import Phases
from runner.execute.run import Run
from runner.execute.rundir import RunFolder
from runner.execute.warm.keeper import Keeper
from runner.ports import Call, Observation, Progress, Result, Status, Target

LOOKING: Final = 60  # seconds that workload_info or node_info may take


@dataclass(frozen=True, slots=True)
class _Assignment:
    """The run that has an operation now; an operation that was lost gets another one."""

    run: str
    errand: Errand
    on_progress: Callable[[Progress], None]


class AnsibleExecutor:
    """Carries module calls to nodes with Ansible; safe to use from many threads."""

    def __init__(
        self,
        folder: Path,
        forks: int = 20,
        connect_timeout: int = 10,
        warm: bool = True,
        handshakes: int = 8,
    ) -> None:
        self._folders = Folders(folder.resolve())
        self._forks = forks
        self._environment = environment(self._folders, collections_path(), connect_timeout)
        self._connect_timeout = connect_timeout
        self._known_hosts = KnownHosts(self._folders.known_hosts)
        self._keeper = Keeper(self._folders, self._environment) if warm else None
        self._runs: dict[str, Run] = {}
        self._assigned: dict[str, _Assignment] = {}  # by operation
        self._direct = direct = Direct(self._folders, self._environment, self._proxy)
        self._lines = Lines(direct, self._environment, connect_timeout, handshakes, forks)
        self._phases = Phases(direct, self._followed)
        self._looks = Looks(direct, self._lines, self._environment)
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def open(self) -> None:
        """Make the folders, end what a killed runner left, and begin to warm up."""
        self._folders.make()
        self._sweep()
        self._phases.start()
        if self._keeper:
            self._keeper.start()

    def start(
        self,
        calls: Sequence[Call],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
    ) -> None:
        """Begin these calls and return; each call gets exactly one result, from another thread."""

        def settle(outcome: Outcome) -> None:
            on_result(outcome.as_result())

        # A run for each module: plays of one run wait for each other, runs don't. And one for those
        # that have to be reached first, which may take long.
        errands = [Errand.of(call) for call in calls]
        runs: dict[tuple[str, bool], list[Errand]] = defaultdict(list)
        for one in errands:
            runs[one.module, self._lines.is_open(one.node, apart=one.apart)].append(one)
        for some in runs.values():
            self._begin(some, settle, on_progress)
        self._phases.wake()

    def observe(
        self, nodes: Sequence[Target], deployments: Sequence[str] = ()
    ) -> dict[str, Observation]:
        """What runs on these nodes; every node has an entry, reachable or not."""
        one = deployments[0] if len(deployments) == 1 else ""
        self._known_hosts.know(nodes)
        seen = self._looks.all(nodes, one, LOOKING, self._forks)
        rest = [node for node in nodes if node.name not in seen]
        arguments = {"deployment": one} if one else {}
        seen |= self._look(f"{COLLECTION}.workload_info", rest, arguments)
        return {name: _only(one, set(deployments)) for name, one in seen.items()}

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        """Capabilities and checks; every node has an entry, reachable or not."""
        return self._look(f"{COLLECTION}.node_info", nodes, {})

    @property
    def active(self) -> frozenset[str]:
        """The operations that have no result yet."""
        with self._lock:
            return frozenset(self._assigned)

    def cancel(self, operation: str) -> None:
        """Stop waiting for an operation and end its processes; unknown ones are ignored."""
        with self._lock:
            assigned = self._assigned.get(operation)
            run = self._runs.get(assigned.run) if assigned else None
        if run is not None:
            run.give_up(operation)

    def stop(self) -> None:
        """End everything that still runs and leave nothing behind."""
        self._looks.stop()
        self._lines.stop()
        with self._lock:
            self._stopped = True
            runs, threads = list(self._runs.values()), list(self._threads)
        for run in runs:
            run.give_up()
        for thread in threads:
            thread.join(timeout=10)
        self._phases.stop()
        if self._keeper:
            self._keeper.stop()
        self._sweep()

    def _followed(self) -> dict[str, tuple[Errand, Callable[[Progress], None]]]:
        with self._lock:
            return {key: (one.errand, one.on_progress) for key, one in self._assigned.items()}

    def _sweep(self) -> None:
        """End processes that carry our control folder in their command line, then their files.

        That names ssh and its masters, which outlive their parents, and the warm process.
        """
        for pids in self._folders.runs.glob("*/pids"):
            for pid, ticks in processes.noted(pids):
                processes.kill_tree(pid, ticks)
        processes.kill_naming(f"{self._folders.control}/")
        self._folders.remove_runs()
        for socket in self._folders.control.glob("*"):
            socket.unlink(missing_ok=True)

    def _look(
        self, module: str, nodes: Sequence[Target], arguments: dict[str, str]
    ) -> dict[str, Observation]:
        outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        errands = [Errand(node.name, node, module, arguments, LOOKING) for node in nodes]
        if errands:
            self._begin(errands, outcomes.put)
        # The run's own end is not waited for: it comes a good deal later than the last answer.
        answers = (outcomes.get() for _ in errands)
        return {one.key: one.as_observation() for one in answers}

    def _begin(
        self,
        errands: Sequence[Errand],
        on_outcome: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Begin a run. Without a listener for progress it is an observation, not an operation."""
        ident = uuid.uuid4().hex[:12]

        def settle(outcome: Outcome) -> None:
            with self._lock:
                self._forget(ident, [outcome.key])
            on_outcome(outcome)

        def add_line(key: str, line: str) -> None:
            if on_progress is not None:
                on_progress(Progress(key, datetime.now(UTC), line))

        folder = RunFolder(self._folders.runs / ident, self._proxy, self._control)
        run = Run(folder, errands, settle, add_line)
        thread = threading.Thread(target=self._carry, args=(ident, run, errands), daemon=True)
        with self._lock:
            if not self._stopped:
                self._runs[ident] = run
                self._threads.add(thread)
                if on_progress is not None:
                    for errand in errands:
                        self._assigned[errand.key] = _Assignment(ident, errand, on_progress)
                thread.start()
                return
        run.give_up()  # after the end nothing begins, and yet each errand gets its outcome

    def _carry(self, ident: str, run: Run, errands: Sequence[Errand]) -> None:
        try:
            run.carry_out(self._environment, self._folders.warm_socket, self._forks, self._reach)
        finally:
            with self._lock:
                self._runs.pop(ident, None)
                self._threads.discard(threading.current_thread())
                self._forget(ident, (errand.key for errand in errands))

    def _reach(self, errands: Sequence[Errand]) -> dict[str, str]:
        """Open the connections that are not there; what ssh said of those that failed."""
        self._known_hosts.know(errand.node for errand in errands)
        return self._lines.open_all(errands, self._forks)

    def _control(self, errand: Errand) -> str:
        return str(self._direct.master(errand.node, apart=errand.apart))

    def _proxy(self, node: Target, mark: Path | None = None) -> str:
        """The command that leads to a node behind a jump host; empty for all others."""
        if node.jump is None:
            return ""
        return proxy_command(node.jump, node.key, self._folders, self._connect_timeout, mark)

    def _forget(self, run: str, keys: Iterable[str]) -> None:
        """End the assignments of a run; what was assigned to another run since then stays."""
        for key in keys:
            assigned = self._assigned.get(key)
            if assigned is not None and assigned.run == run:
                del self._assigned[key]


def _only(seen: Observation, deployments: set[str]) -> Observation:
    """What was seen of these deployments alone; of all, when none is named."""
    workloads = seen.data.get("workloads")
    if not deployments or seen.status is not Status.OK or not isinstance(workloads, list):
        return seen
    kept = [one for one in workloads if one.get("deployment") in deployments]
    return Observation(
        seen.node, seen.status, {**seen.data, "workloads": kept}, seen.at, seen.message
    )
