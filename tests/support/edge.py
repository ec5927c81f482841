"""Nodes that are only pretended, for tests of the runner: they keep fences and releases for real.

A call behaves as the modules do: an older fence is refused, an equal one gets the recorded result,
a release that is broken goes back within its call, a node that is away is unreachable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from margrave.lifecycle import Kind
from runner.ports import Call, Observation, Progress, Result, Status, Target


@dataclass
class FakeNode:
    """One pretended node."""

    running: dict[str, dict[str, Any]] = field(default_factory=dict)
    previous: dict[str, dict[str, Any]] = field(default_factory=dict)
    fences: dict[str, tuple[tuple[int, int], dict[str, Any]]] = field(default_factory=dict)
    drift: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    runner: str = ""
    epoch: int = 0
    away: bool = False
    switches: int = 0  # how often something was really changed
    wrote: set[str] = field(default_factory=set)  # deployments that have run on it
    releases: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)  # since when what runs is healthy
    disturbed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    counts: bool = True  # whether it still knows its baselines


class FakeExecutor:
    """Carries calls to pretended nodes, each in a thread of its own."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: FakeNode() for name in names}
        self.broken_versions: set[str] = set()
        # They are healthy at first, and end again and again.
        self.crashing_versions: set[str] = set()
        self.unfetchable: dict[str, str] = {}  # version -> what fetching it comes to
        self.error: dict[str, str] | None = None  # what every install and update answers
        self.error_of_delete: dict[str, str] | None = None  # what every delete answers
        self.volumes: set[str] = set()  # deployments that have a named volume
        self.calls: list[Call] = []
        self.before_answer: Callable[[Call], None] = lambda call: None
        self.lost: set[Kind] = set()  # kinds whose answers never come back
        self.now: Callable[[], datetime] = _now  # when a look sees what it sees
        self.monotonic: Callable[[], float] = time.monotonic
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._waited_for: dict[str, Callable[[], None]] = {}
        self._cancelled: set[str] = set()

    def start(
        self,
        calls: Sequence[Call],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
    ) -> None:
        """Each call in a thread, as runs overlap."""
        with self._lock:
            self.calls += calls
            self._cancelled.difference_update(call.operation for call in calls)
        for call in calls:
            arguments = (call, on_progress, on_result)
            thread = threading.Thread(target=self._carry, args=arguments, daemon=True)
            self._threads.append(thread)
            thread.start()

    def idle(self) -> bool:
        """Whether every call has come to its end here, whatever was made of its answer."""
        return not any(one.is_alive() for one in self._threads)

    def observe(
        self, nodes: Sequence[Target], deployments: Sequence[str] = ()
    ) -> dict[str, Observation]:
        """What the nodes say."""
        return {one.name: self._observation(one.name) for one in nodes}

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        """Capabilities."""
        told = {"capabilities": CAPABILITIES}
        return {one.name: Observation(one.name, Status.OK, told, _now()) for one in nodes}

    def cancel(self, operation: str) -> None:
        """Who waits for an answer that never comes waits no longer."""
        with self._lock:
            answer = self._waited_for.pop(operation, None)
            if answer is None:
                self._cancelled.add(operation)  # it may be on its way there just now
        if answer is not None:
            answer()

    def stop(self) -> None:
        """Nothing is kept here that could be left behind."""

    def _carry(
        self,
        call: Call,
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
    ) -> None:
        node, began = self.nodes[call.node.name], _now()
        if node.away:
            error = {"class": "link", "code": "away", "message": "no route", "cure": ""}
            on_result(Result(call.operation, Status.UNREACHABLE, {"error": error}, began, _now()))
            return
        on_progress(Progress(call.operation, _now(), f"{call.kind} begins"))
        with self._lock:
            data = self._answer(node, call)
        self.before_answer(call)
        if call.kind in self.lost:
            error = {"class": "internal", "code": "stopped", "message": "stopped", "cure": ""}
            lost = Result(call.operation, Status.LOST, {"error": error}, began, _now())
            with self._lock:
                if call.operation not in self._cancelled:
                    self._waited_for[call.operation] = lambda: on_result(lost)
                    return
            on_result(lost)
            return
        status = Status.FAILED if data.get("error") else Status.OK
        on_result(Result(call.operation, status, data, began, _now()))

    def _answer(self, node: FakeNode, call: Call) -> dict[str, Any]:
        deployment = str(call.arguments["deployment"])
        fence = call.arguments["fence"]
        ours = node.runner in ("", fence["runner"])
        if fence["epoch"] < node.epoch or (fence["epoch"] == node.epoch and not ours):
            return _failed("conflict", "other-runner", f"belongs to {node.runner}")
        node.runner, node.epoch = fence["runner"], fence["epoch"]
        order = (fence["epoch"], fence["seq"])
        last = node.fences.get(deployment)
        if last and order < last[0]:
            return _failed("conflict", "fence-passed", "older call")
        if last and order == last[0]:
            return last[1]
        data = self._work(node, call, deployment)
        node.fences[deployment] = (order, data)
        return data

    def _work(self, node: FakeNode, call: Call, deployment: str) -> dict[str, Any]:
        if call.kind is Kind.DELETE:
            assert set(call.arguments) >= {"volumes", "fence"}
            if self.error_of_delete is not None:
                return {"state": "FAILED", "error": self.error_of_delete}
            node.running.pop(deployment, None)
            node.switches += 1
            kept = ["data"] if deployment in self.volumes & node.wrote else []
            return {"state": "DELETED", "deleted": True, "exit_code": 0, "volumes_kept": kept}
        if call.kind is Kind.ROLLBACK:
            return self._back(node, call, deployment)
        wanted = {key: call.arguments[key] for key in ("release", "revision", "version")}
        runs = node.running.get(deployment)
        if self.error is not None:
            return {"state": "FAILED", "error": self.error, **(runs or _NOTHING)}
        if call.ahead:
            trouble = self.unfetchable.get(str(wanted["version"]))
            return _failed("registry", "away", trouble) if trouble else {"state": "PREFETCHED"}
        node.switches += 1
        crashes = call.arguments.get("prove") and wanted["version"] in self.crashing_versions
        if wanted["version"] in self.broken_versions or crashes:
            return self._reverted(node, call, deployment)
        return self._runs(node, call, deployment, wanted)

    def _back(self, node: FakeNode, call: Call, deployment: str) -> dict[str, Any]:
        """Go back to a release that is on the node; mostly it runs already."""
        runs, wanted = node.running.get(deployment), str(call.arguments["to_release"])
        if runs and wanted == runs["release"] and not call.arguments.get("prove"):
            return {"state": "INSTALLED", "health": "healthy", **runs, "error": None}
        target = node.releases[deployment][wanted]
        if call.arguments.get("prove") and target["version"] in self.crashing_versions:
            return self._reverted(node, call, deployment)
        return self._runs(node, call, deployment, target)

    def _reverted(self, node: FakeNode, call: Call, deployment: str) -> dict[str, Any]:
        """Fail, and let run what ran before: what is proven, where that did not stay healthy."""
        runs = node.running.get(deployment)
        unproven = runs and runs["release"] != call.arguments.get("proven")
        if unproven and (self._disturbances(node, deployment) or call.arguments.get("prove")):
            runs = node.releases[deployment].get(str(call.arguments.get("proven")))
            node.running.pop(deployment)
        if runs:
            node.running[deployment] = runs
            node.baselines[deployment] = self.monotonic()
            node.disturbed.pop(deployment, None)
        told = _failed("health", "unhealthy", "it did not stay healthy")
        return told | (runs or _NOTHING) | {"rolled_back": bool(runs)}

    def _runs(
        self, node: FakeNode, call: Call, deployment: str, wanted: dict[str, Any]
    ) -> dict[str, Any]:
        kept, before = node.releases.setdefault(deployment, {}), node.running.get(deployment)
        kept[wanted["release"]] = wanted
        previous = kept.get(str(call.arguments.get("proven"))) or before
        if previous and previous["release"] != wanted["release"]:
            node.previous[deployment] = previous
        node.running[deployment] = wanted
        node.wrote.add(deployment)
        node.drift.pop(deployment, None)
        node.disturbed.pop(deployment, None)
        node.baselines[deployment] = self.monotonic()
        told = {"state": "INSTALLED", "health": "healthy", "error": None, **wanted}
        return told | {"previous_revision": (node.previous.get(deployment) or {}).get("revision")}

    def _disturbances(self, node: FakeNode, deployment: str) -> list[dict[str, Any]]:
        if node.running[deployment]["version"] in self.crashing_versions:
            return [{"detail": "web restarted 3 times (exit code 1)", "after": None}]
        return node.disturbed.get(deployment, [])

    def _stability(self, node: FakeNode, deployment: str) -> dict[str, Any]:
        at = node.baselines.get(deployment)
        seconds = self.monotonic() - at if at is not None and node.counts else None
        return {"seconds": seconds, "disturbances": self._disturbances(node, deployment)}

    def _observation(self, name: str) -> Observation:
        node = self.nodes[name]
        if node.away:
            error = {"class": "link", "code": "away", "message": "no route", "cure": ""}
            return Observation(name, Status.UNREACHABLE, {"error": error}, self.now(), "no route")
        workloads = [
            {
                "deployment": key,
                "health": "degraded" if self._disturbances(node, key) else "healthy",
                "stability": self._stability(node, key),
                "drift": node.drift.get(key, []),
                "volumes": ["data"] if key in self.volumes else [],
                **runs,
            }
            for key, runs in node.running.items()
        ]
        seen = [order[1] for order, _ in node.fences.values() if order[0] == node.epoch]
        mark = {"runner": node.runner, "epoch": node.epoch, "seq": max(seen, default=0)}
        told = {"workloads": workloads, "fence": mark if node.runner else None}
        return Observation(name, Status.OK, told, self.now())


CAPABILITIES: Mapping[str, Any] = {
    "architecture": "x86_64",
    "cpus": 4,
    "memory": 4 * 1024**3,
    "storage": 10 * 1024**3,
    "deployment_types": ["compose"],
}
_NOTHING = {"release": None, "revision": None, "version": None}


def _failed(kind: str, code: str, message: str) -> dict[str, Any]:
    error = {"class": kind, "code": code, "message": message, "cure": ""}
    return {"state": "FAILED", "error": error}


def _now() -> datetime:
    return datetime.now(UTC)
