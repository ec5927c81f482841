"""The fleet of a truth test: a controller, site runners and lab nodes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from lab import Lab
from tests.faults.truth.delays import Pace
from tests.support import controller_process
from tests.support.controller_process import CLI
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean

APPLICATION = "storefront"
CHECKS = "4s"
SOCKET = Path("/run/podman/podman.sock")


class Condition(StrEnum):
    """Presence of a node or a process, as brought about by this test."""

    UP = "up"
    CHANGING = "changing"  # neither is certain at this moment
    DOWN = "down"


@dataclass
class Presence:
    """The condition of a node or a process now, and each time that it was away."""

    condition: Condition = Condition.UP
    since: float = field(default_factory=time.time)
    absences: list[tuple[float, float]] = field(default_factory=list)

    def set(self, condition: Condition) -> None:
        """Enter a condition; the end of an absence is noted."""
        now = time.time()
        if self.condition is Condition.DOWN and condition is not Condition.DOWN:
            self.absences.append((self.since, now))
        self.condition, self.since = condition, now

    def was_away(self, moment: float, margin: float) -> bool:
        """Return whether it was away at a moment, further from the ends than the margin."""
        now = [(self.since, float("inf"))] if self.condition is Condition.DOWN else []
        spans = [*self.absences, *now]
        return any(begin + margin < moment < end - margin for begin, end in spans)


@dataclass(frozen=True)
class Ran:
    """A command that has ended, or that had to be ended."""

    words: tuple[str, ...]
    code: int | None  # None: it did not end by itself
    output: str
    began: float
    ended: float


class World:
    """All that is started, by its name."""

    def __init__(
        self, lab: Lab, sites: Mapping[str, Sequence[str]], base: Path, pace: Pace
    ) -> None:
        self.lab = lab
        self.sites = {site: tuple(nodes) for site, nodes in sites.items()}
        self.pace = pace
        self.controller = controller_process.make(base, lab.registry_address)
        self.controller.settings["MARGRAVE_HEARTBEAT__INTERVAL"] = f"{pace.heartbeat:g}s"
        self.runners: dict[str, RunnerProcess] = {}
        self.presence = {"controller": Presence()}
        self.presence |= {site: Presence() for site in self.sites}
        self.presence |= {node: Presence() for node in self.nodes}
        self.addresses = {node: lab.node(node).address for node in self.nodes}
        self._sockets: dict[str, Path] = {}
        self._base = base
        self._log = threading.Lock()
        self.diary: list[tuple[float, str]] = []

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of all nodes."""
        return tuple(node for nodes in self.sites.values() for node in nodes)

    def site_of(self, node: str) -> str:
        """Return the site of a node."""
        return next(site for site, nodes in self.sites.items() if node in nodes)

    def engine_socket(self, node: str) -> Path:
        """Return the socket of a node's engine, which is another file after each power cut."""
        known = self._sockets.get(node)
        if known is None or not known.exists():
            known = self._sockets[node] = self.lab.inside(node, SOCKET)
        return known

    @property
    def repository(self) -> Path:
        """Return the folder of the deployments repository."""
        return self.controller.folder / "state/git/deployments.git"

    @property
    def git_url(self) -> str:
        """Return where a person clones the deployments repository and pushes to it."""
        address = self.controller.url.removeprefix("http://")
        return f"http://person:{self.controller.token}@{address}/git/deployments.git"

    def open(self) -> None:
        """Start everything and onboard the nodes."""
        for node in self.nodes:
            self.lab.heal(node)
            clean(self.lab, node)
        self.controller.start()
        self.controller.post("/app-sources", name="own", url=str(self._application()))
        self.controller.post("/app-sources/own/sync")
        for site in self.sites:
            self.runners[site] = self._runner(site)
            self.runners[site].start()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self._onboard, self.nodes))
        for presence in self.presence.values():
            presence.set(Condition.UP)

    def close(self) -> None:
        """End the processes and leave the nodes as they were."""
        for runner in self.runners.values():
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                runner.kill(signal.SIGTERM)
        self.controller.stop()
        self.controller.registry.stop()
        for node in self.nodes:
            self.lab.heal(node)
            clean(self.lab, node)

    def note(self, text: str) -> None:
        """Write a line into the diary of the run."""
        with self._log:
            self.diary.append((time.time(), text))

    def margrave(self, *words: str, limit: float = 60) -> Ran:
        """Run the operator's command; one that does not end within the limit is ended."""
        variables = {"MARGRAVE_URL": self.controller.url, "MARGRAVE_TOKEN": self.controller.token}
        began = time.time()
        process = subprocess.Popen(
            [str(CLI), *words],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            output, _ = process.communicate(timeout=limit)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            code = None
        return Ran(words, code, output, began, time.time())

    def runner_is_alive(self, site: str) -> bool:
        """Return whether the process of a runner is there."""
        process = self.runners[site].process
        return process is not None and process.poll() is None

    def _application(self) -> Path:
        """Write the application with less frequent health checks: all nodes share a machine."""
        folder = self._base / "apps" / APPLICATION
        shutil.copytree(controller_process.APPS / APPLICATION, folder)
        for file in folder.rglob("compose.yaml"):
            file.write_text(file.read_text().replace("interval: 1s", f"interval: {CHECKS}"))
        return folder

    def _runner(self, site: str) -> RunnerProcess:
        token = self.controller.post("/sites", name=site)["token"]
        url, pace = self.controller.url, self.pace
        return RunnerProcess(
            self._base / site,
            f"{url}/git/deployments.git",
            site,
            git=f"username = {json.dumps(site)}\npassword = {json.dumps(token)}\n",
            more=f"[controller]\nurl = {json.dumps(url)}\ntoken = {json.dumps(token)}\n"
            f'[heartbeat]\ninterval = "{pace.heartbeat:g}s"\n'
            f"[ssh]\nconnect_timeout = {pace.connect_timeout:g}\n",
            drift=f"{pace.drift:g}s",
            poll="30s",
        )

    def _onboard(self, node: str) -> None:
        runner, address = self.runners[self.site_of(node)], self.addresses[node]
        runner.add(node, address, self.lab.key, self.lab.host_key(node))
