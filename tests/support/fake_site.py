"""A small honest site: it fetches the repository, walks the life cycle, and reports over HTTP.

It does what a runner does with everything but the nodes: heartbeats, Git with its own token,
numbered reports, commands acknowledged. What is on its nodes is a dictionary. Version 1.2.0 of
anything is broken here, as it is in the examples: it never gets healthy and is rolled back.
"""

from __future__ import annotations

import subprocess
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from margrave.documents.deployment import Deployment, read_deployment

BROKEN = "1.2.0"
BEAT = 0.4
NEVER_HEALTHY = {
    "class": "health",
    "code": "unhealthy",
    "message": "web did not get healthy within 60 s",
    "cure": "read its log below, mend the release",
}
MACHINE = {
    "architecture": "amd64",
    "cpus": 4,
    "memory": 8 * 2**30,
    "engines": ["podman"],
    "deployment_types": ["compose"],
}


@dataclass
class Runs:
    """What a node has of a deployment."""

    revision: str
    version: str | None
    incarnation: int = 1


@dataclass
class FakeSite:
    """One site with its nodes, as a process would be: start, stop, cut off, held up."""

    url: str
    name: str
    token: str
    folder: Path
    nodes: tuple[str, ...]
    has: dict[tuple[str, str], Runs] = field(default_factory=dict)
    tried: set[tuple[str, str]] = field(default_factory=set)
    held: set[tuple[str, str, str]] = field(default_factory=set)
    astray: set[tuple[str, str]] = field(default_factory=set)  # not with what is wanted
    # A test lets the middle of an operation last until it has looked.
    may_go_on: threading.Event = field(default_factory=threading.Event)
    connected: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._runner, self._seq = str(uuid.uuid4()), 0
        self._outbox: list[dict[str, Any]] = []
        self._stopped = threading.Event()
        self._cancelled: set[str] = set()
        self._acknowledged: set[str] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/sites/{self.name}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
        )
        self.may_go_on.set()
        self.connected.set()

    def start(self) -> FakeSite:
        """Say what there is, then beat and work."""
        known = [
            {"name": one, "address": f"10.9.0.{place + 10}", "status": "active",
             "labels": {"zone": "shop"}, "capabilities": MACHINE}
            for place, one in enumerate(self.nodes)
        ]  # fmt: skip
        self.tell("snapshot", {"placements": [], "nodes": known, "site": {"applied_commit": None}})
        for work in (self._beats, self._works):
            thread = threading.Thread(target=work, name=f"site {self.name}", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def stop(self) -> None:
        """End, whatever is under way."""
        self._stopped.set()
        self.may_go_on.set()
        for thread in self._threads:
            thread.join(60)
        self._http.close()

    # ---- the line ------------------------------------------------------------------------------

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Put an event into the outbox and send what is there."""
        with self._lock:
            self._seq += 1
            event = {"seq": self._seq, "at": _now(), "kind": kind, "data": data}
            self._outbox.append(event)
        self._deliver()

    def _deliver(self) -> None:
        with self._lock:
            if not self._outbox or not self.connected.is_set():
                return
            body = {
                "protocol": 1, "runner": self._runner, "epoch": 1,
                "first_seq": self._outbox[0]["seq"], "events": self._outbox,
            }  # fmt: skip
            try:
                answer = self._http.post("/reports", json=body)
            except httpx.TransportError:
                return  # the next heartbeat tries again: nothing is lost
            answer.raise_for_status()
            ack = answer.json()["ack"]
            self._outbox = [one for one in self._outbox if one["seq"] > ack]

    def _beats(self) -> None:
        while not self._stopped.wait(BEAT):
            if not self.connected.is_set():
                continue
            nodes = [{"name": one, "status": "active", "last_seen": _now()} for one in self.nodes]
            body = {"protocol": 1, "runner": self._runner, "epoch": 1, "at": _now(), "nodes": nodes}
            try:
                told = self._http.post("/heartbeat", json=body)
            except httpx.TransportError:
                continue
            if told.status_code == 200:
                for command in told.json()["commands"]:
                    self._obey(command)
                self._deliver()

    def _obey(self, command: dict[str, Any]) -> None:
        if command["id"] in self._acknowledged:
            return
        self._acknowledged.add(command["id"])
        deployment = command.get("deployment", "")
        if command["kind"] == "cancel":
            self._cancelled.add(deployment)
            self.may_go_on.set()
        if command["kind"] in ("retry", "release"):
            self.tried = {one for one in self.tried if one[0] != deployment}
        self.tell("command", {"id": command["id"], "result": "done", "detail": "as asked"})

    # ---- the work ------------------------------------------------------------------------------

    def _works(self) -> None:
        applied = None
        while not self._stopped.wait(BEAT):
            if not self.connected.is_set():
                continue
            commit, wanted = self._fetch()
            if commit is None:
                continue
            for one in wanted.values():
                for node in self.nodes:
                    if one.device_id in (f"{self.name}/*", f"{self.name}/{node}"):
                        self._bring(node, one, commit)
            for node, deployment in [key for key in self.has if key[1] not in wanted]:
                self._remove(node, deployment, commit)
            if commit != applied:
                applied = commit
                self.tell("site", {"locked": None, "halted": None, "applied_commit": commit})

    def _fetch(self) -> tuple[str | None, dict[str, Deployment]]:
        """The head of main and this site's documents, by Git over HTTP with the site's token."""
        clone = self.folder / "clone"
        if not clone.exists():
            address = self.url.replace("://", f"://site:{quote(self.token)}@", 1)
            _git(self.folder, "clone", "-q", f"{address}/git/deployments.git", str(clone))
        _git(clone, "fetch", "-q", "origin")
        head = _git(clone, "rev-parse", "-q", "--verify", "origin/main")
        if not head:
            return None, {}
        listed = _git(clone, "ls-tree", "--name-only", head, f"deployments/{self.name}/")
        texts = [_git(clone, "show", f"{head}:{path}") for path in listed.split()]
        found = [read_deployment(text) for text in texts]
        return head, {one.id: one for one in found}

    def _bring(self, node: str, one: Deployment, commit: str) -> None:
        runs = self.has.get((node, one.id))
        if runs and runs.revision == one.revision:
            if (node, one.id) in self.astray:  # back to what runs: nothing has to be done for it
                self.astray.discard((node, one.id))
                self._stand(node, one, commit, "succeeded", "runs and is healthy")
            return
        if (one.id, one.revision) in self.tried:
            self._hold(node, one, commit)  # quarantined: it failed at this site
            return
        walk = _Walk(self, node, one, commit, runs)
        if walk.go():
            self.has[node, one.id] = Runs(one.revision, one.version)
            self.held = {key for key in self.held if key[:2] != (node, one.id)}  # told anew
        else:
            self.tried.add((one.id, one.revision))
            self.astray.add((node, one.id))

    def _hold(self, node: str, one: Deployment, commit: str) -> None:
        """Say once that what failed on another node is not tried on this one."""
        key = (node, one.id, one.revision)
        if key in self.held or (node, one.id) not in self.has:
            return
        self.held.add(key)
        self.astray.add((node, one.id))
        self._stand(node, one, commit, "held", "failed elsewhere at the site")

    def _stand(self, node: str, one: Deployment, commit: str, outcome: str, reason: str) -> None:
        """Tell how a placement stands where it did not move."""
        runs = self.has[node, one.id]
        stands = {
            "deployment": one.id, "node": node, "state": "INSTALLED", "outcome": outcome,
            "revision": runs.revision, "version": runs.version, "commit": commit,
            "wanted_revision": one.revision, "wanted_version": one.version, "from": None,
            "to": None, "reason": reason, "health": "healthy",
        }  # fmt: skip
        self.tell("placement", stands)

    def _remove(self, node: str, deployment: str, commit: str) -> None:
        runs = self.has.pop((node, deployment))
        operation = str(uuid.uuid4())
        base = {
            "deployment": deployment, "node": node, "revision": runs.revision,
            "version": runs.version, "commit": commit, "operation": operation, "attempt": 1,
        }  # fmt: skip
        about = {"id": operation, "deployment": deployment, "node": node, "kind": "delete"}
        began = _now()
        going = {**base, "state": "DELETING", "from": "INSTALLED", "to": "DELETING"}
        self.tell("placement", {**going, "outcome": "pending", "reason": "removed from Git"})
        self.tell("operation", {**about, "state": "running", "started_at": began})
        gone = {**base, "state": "DELETED", "from": "DELETING", "to": "DELETED", "actor": "node"}
        gone |= {"revision": None, "version": None}
        self.tell("placement", {**gone, "outcome": "succeeded", "reason": "taken off the node"})
        ended = {"state": "succeeded", "started_at": began, "ended_at": _now()}
        self.tell("operation", {**about, **ended})


class _Walk:
    """One install or update on one node, told step by step."""

    def __init__(
        self, site: FakeSite, node: str, one: Deployment, commit: str, runs: Runs | None
    ) -> None:
        self._site, self._one, self._runs, self._node = site, one, runs, node
        self._operation = str(uuid.uuid4())
        self._kind = "update" if runs else "install"
        self._commit = commit
        self._began = _now()

    def go(self) -> bool:
        """Whether the wanted revision runs now."""
        self._site._cancelled.discard(self._one.id)  # of something that was over already
        busy = "UPDATING" if self._runs else "INSTALLING"
        if self._runs is None:
            self._place(None, "PENDING", "pending", "wanted here")
        self._place("INSTALLED" if self._runs else "PENDING", busy, "pending", "revision changed")
        self._tell("running", phase="prefetch")
        self._log("fetching the images", "images are there")
        self._tell("running", phase="health")
        self._log("switched, waiting for health")
        self._site.may_go_on.wait(120)
        cancelled = self._one.id in self._site._cancelled
        self._site._cancelled.discard(self._one.id)
        if self._one.version == BROKEN or cancelled:
            self._site.held.add((self._node, self._one.id, self._one.revision))
            return self._go_back(busy, cancelled=cancelled)
        self._log("healthy")
        self._runs = Runs(self._one.revision, self._one.version)
        self._place(busy, "INSTALLED", "succeeded", "runs and is healthy", actor="node")
        self._tell("succeeded", phase="done", ended_at=_now())
        return True

    def _go_back(self, busy: str, *, cancelled: bool) -> bool:
        error = None if cancelled else NEVER_HEALTHY
        why = "cancelled" if cancelled else "never got healthy"
        ended = "held" if cancelled else "rolled-back"
        self._log(why)
        self._tell("cancelled" if cancelled else "failed", error=error, ended_at=_now())
        self._place(busy, "FAILED", "failed", why, actor="node", error=error)
        if self._runs is None:
            return False
        self._place("FAILED", "ROLLINGBACK", "failed", "the previous revision is proved")
        told = {"actor": "node", "error": error}
        self._place("ROLLINGBACK", "INSTALLED", ended, f"went back: {why}", **told)
        return False

    def _place(self, frm: str | None, to: str, outcome: str, reason: str, **more: Any) -> None:
        runs = self._runs
        self._site.tell(
            "placement",
            {
                "deployment": self._one.id, "name": self._one.name, "node": self._node,
                "incarnation": 1, "state": to, "outcome": outcome, "from": frm, "to": to,
                "revision": runs.revision if runs else None,
                "version": runs.version if runs else None,
                "wanted_revision": self._one.revision, "wanted_version": self._one.version,
                "attempt": 1, "reason": reason, "actor": "runner", "since": _now(),
                "health": "healthy" if to == "INSTALLED" else "unknown",
                "operation": self._operation, "commit": self._commit, **more,
            },
        )  # fmt: skip

    def _tell(self, state: str, **more: Any) -> None:
        about = {"id": self._operation, "deployment": self._one.id, "node": self._node}
        about |= {"kind": self._kind, "state": state, "attempt": 1, "started_at": self._began}
        self._site.tell("operation", {**about, "revision": self._one.revision, **more})

    def _log(self, *lines: str) -> None:
        told = [f"{_now()[11:19]} {line}" for line in lines]
        self._site.tell("log", {"operation": self._operation, "lines": told})


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() if words[0] == "rev-parse" else done.stdout
