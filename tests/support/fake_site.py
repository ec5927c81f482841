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
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from margrave.documents.deployment import Deployment, read_deployment
from tests.support.fake_walk import Runs, Walk, now

BEAT = 0.4
MACHINE = {
    "architecture": "amd64",
    "cpus": 4,
    "memory": 8 * 2**30,
    "engines": ["podman"],
    "deployment_types": ["compose"],
}


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
            event = {"seq": self._seq, "at": now(), "kind": kind, "data": data}
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
            if answer.is_server_error:
                return  # it is busy: the same
            answer.raise_for_status()
            ack = answer.json()["ack"]
            self._outbox = [one for one in self._outbox if one["seq"] > ack]

    def _beats(self) -> None:
        while not self._stopped.wait(BEAT):
            if not self.connected.is_set():
                continue
            nodes = [{"name": one, "status": "active", "last_seen": now()} for one in self.nodes]
            body = {"protocol": 1, "runner": self._runner, "epoch": 1, "at": now(), "nodes": nodes}
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
            if not clone.exists():
                return None, {}  # it did not answer: another time
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
        walk = Walk(self, node, one, commit, runs)
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
        began = now()
        going = {**base, "state": "DELETING", "from": "INSTALLED", "to": "DELETING"}
        self.tell("placement", {**going, "outcome": "pending", "reason": "removed from Git"})
        self.tell("operation", {**about, "state": "running", "started_at": began})
        gone = {**base, "state": "DELETED", "from": "DELETING", "to": "DELETED", "actor": "node"}
        gone |= {"revision": None, "version": None}
        self.tell("placement", {**gone, "outcome": "succeeded", "reason": "taken off the node"})
        ended = {"state": "succeeded", "started_at": began, "ended_at": now()}
        self.tell("operation", {**about, **ended})


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() if words[0] == "rev-parse" else done.stdout
