"""A whole runner on pretended nodes, its clock and its calls in the hands of a test: no threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from margrave.documents.deployment import Deployment
from margrave.documents.site import read_site
from margrave.lifecycle import Kind
from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.ports import Call, Node, NodeStatus, Progress, Result, Status
from runner.reconcile.commands import Commands
from runner.settings import Git, RunnerSettings, Site
from runner.source import Desired
from runner.store import Operation, Placement, operations, placements
from runner.store.schema import metadata
from tests.support.edge import CAPABILITIES, FakeExecutor, FakeNode

NODES = ("n1", "n2", "n3")
BEGIN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@dataclass
class Carried:
    """A call on its way: in how many turns it answers, and what the node has said already."""

    call: Call
    tell: Callable[[Result], None]
    turns: int
    answer: dict[str, Any] | None = None


class SlowNodes(FakeExecutor):
    """Pretended nodes that answer when their turn comes; releases fail as they are told to."""

    def __init__(self, clock: Callable[[], datetime], *names: str) -> None:
        super().__init__(*names)
        self.clock = clock
        self.carried: dict[str, Carried] = {}
        self.turns = 0
        self.works_at_once = True  # or only when it answers: a call that gives way did nothing
        self.fails: dict[str, str] = {}  # by release: the class of what an attempt comes to
        self.proven: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}

    def start(
        self,
        calls: Sequence[Call],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
    ) -> None:
        """Keep them."""
        for call in calls:
            self.calls.append(call)
            kept = Carried(call, on_result, self.turns)
            if self.works_at_once and not self.nodes[call.node.name].away:
                kept.answer = self._answer(self.nodes[call.node.name], call)
            self.carried[call.operation] = kept

    def cancel(self, operation: str) -> None:
        """Nobody waits for it any longer."""
        kept = self.carried.pop(operation, None)
        if kept is not None:
            kept.tell(self._lost(kept.call, Status.LOST, "stopped"))

    def deliver(self) -> None:
        """One turn is over: whose time has come answers."""
        for key, kept in list(self.carried.items()):
            kept.turns -= 1
            if kept.turns < 0 and self.carried.pop(key, None):
                self._deliver(kept)

    def _deliver(self, kept: Carried) -> None:
        node = self.nodes[kept.call.node.name]
        if node.away:
            kept.tell(self._lost(kept.call, Status.UNREACHABLE, "no route"))
            return
        data = kept.answer if kept.answer is not None else self._answer(node, kept.call)
        status = Status.FAILED if data.get("error") else Status.OK
        kept.tell(Result(kept.call.operation, status, data, self.clock(), self.clock()))

    def _work(self, node: FakeNode, call: Call, deployment: str) -> dict[str, Any]:
        known = self.proven.setdefault((call.node.name, deployment), {})
        if call.kind is Kind.ROLLBACK:
            back = known.get(str(call.arguments["to_release"]))
            if back is None:
                return _failed("config", node.running.get(deployment))
            node.running[deployment] = back
            node.drift.pop(deployment, None)
        elif call.kind is not Kind.DELETE and call.arguments["release"] in self.fails:
            cls = self.fails[call.arguments["release"]]
            return _failed(cls, node.running.get(deployment))
        answer = super()._work(node, call, deployment)
        if call.kind in (Kind.INSTALL, Kind.UPDATE) and not call.ahead:
            known[call.arguments["release"]] = node.running[deployment]
        elif call.kind is Kind.DELETE:
            known.clear()
        return answer

    def _lost(self, call: Call, status: Status, words: str) -> Result:
        error = {"class": "link", "code": "away", "message": words, "cure": ""}
        return Result(call.operation, status, {"error": error}, self.clock(), self.clock())


def _failed(cls: str, runs: dict[str, Any] | None) -> dict[str, Any]:
    """An attempt that failed and went back to what ran, if anything did."""
    error = {"class": cls, "code": "made", "message": "as the test wants it", "cure": ""}
    return {"state": "FAILED", "error": error, **(runs or NOTHING)}


NOTHING = {"release": None, "revision": None, "version": None}


class Life:
    """A runner's site, turn by turn; begun anew for each life, because making one takes long."""

    def __init__(self, folder: Path) -> None:
        self.now = BEGIN
        self.executor = SlowNodes(lambda: self.now, *NODES)
        settings = RunnerSettings(
            site=Site(name="harbor"),
            git=Git(remote=str(folder / "nobody.git")),
            state=StateFolder(dir=folder / "state"),
        )
        self.runner: Runner = build(settings, self.executor, lambda: self.now)
        self.store, self.work = self.runner.ground.store, self.runner.work
        self.commands = Commands(
            self.store,
            self.executor,
            self.work.look_at,
            lambda: None,
            self.work.wanted_release,
        )
        self._count = 0

    def begin(self) -> None:
        """Nothing is left of the life before."""
        with self.store.write() as tx:
            for table in metadata.sorted_tables:
                if table.name != "identity":
                    tx.connection.execute(table.delete())
        self.now = BEGIN
        fresh = SlowNodes(lambda: self.now, *NODES)
        self.executor.__dict__.update(fresh.__dict__)
        self.work.watch._newest = self.work.watch._desired = None
        self.work.operations._patience.clear()
        for number, name in enumerate(NODES, 1):
            node = Node(name, f"192.0.2.{number}", host_key="ssh-ed25519 AAAA")
            node = replace(node, capabilities=CAPABILITIES, last_seen=BEGIN)
            self.runner.ground.nodes.save(replace(node, status=NodeStatus.ACTIVE))

    def want(self, documents: Sequence[Deployment], site: str = "{}") -> None:
        """A commit."""
        self._count += 1
        commit = f"{self._count:040x}"
        self.work.watch._newest = Desired(
            commit, commit, tuple(documents), read_site(site), Path("components"), {}
        )

    def command(self, kind: str, deployment: str) -> None:
        """What an operator asks for."""
        self._count += 1
        self.commands.handle({"id": str(self._count), "kind": kind, "deployment": deployment})

    def turn(self, seconds: int) -> list[Operation]:
        """Time goes by, nodes answer and are looked at, the runner ticks; what it began."""
        self.now += timedelta(seconds=seconds)
        self.executor.deliver()
        self.work.observer.look()
        self.work.reconciler.tick()
        with self.store.read() as tx:
            return [one for one in operations.latest(tx, 50) if one.started_at == self.now]

    def standing(self) -> dict[tuple[str, str], Placement]:
        """The newest placements."""
        with self.store.read() as tx:
            return {(one.deployment, one.node): one for one in placements.newest(tx)}

    def at_work(self) -> set[tuple[str, str]]:
        """Placements with an operation that has not ended."""
        with self.store.read() as tx:
            found = [(one.deployment, one.node) for one in operations.unfinished(tx)]
        assert len(found) == len(set(found)), "one operation at a time on a placement"
        return set(found)
