"""A runner as a process of its own: started as the operator does, killed as a power cut does."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from runner.execute import processes
from runner.socket_client import ask
from tests.support.faked_clock import FakedClock
from tests.support.waiting import eventually

COMMAND = Path(sys.executable).parent / "margrave"


def release(address: str, identity: Path) -> None:
    """Remove the rights of runners from a node of the lab."""
    login = ["-i", str(identity), "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes"]
    known = ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    remove = "rm -f /etc/sudoers.d/margrave-*"
    subprocess.run(["ssh", *login, *known, f"root@{address}", remove], check=True, timeout=60)


class RunnerProcess:
    """`margrave runner serve` in a folder of its own."""

    def __init__(
        self,
        base: Path,
        remote: str,
        site: str = "harbor",
        *,
        git: str = "",
        more: str = "",
        drift: str = "600s",
        poll: str = "600s",
        clock: FakedClock | None = None,
    ) -> None:
        base.mkdir(parents=True, exist_ok=True)
        self.base = base
        self.site = site
        self.clock = clock
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = base / "margrave.toml"
        self.config.write_text(
            f'[site]\nname = "{site}"\n[git]\nremote = "{remote}"\n{git}'
            f'[poll]\ninterval = "{poll}"\n[drift]\ninterval = "{drift}"\n'
            f'[http]\nbind = "127.0.0.1:{self.port}"\n{more}'
        )
        self.state = base / "state"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return when it is ready."""
        self.launch()
        eventually(self.ready, 120, "the runner gets ready")

    def launch(self) -> None:
        """Start it without waiting for it."""
        words = [str(COMMAND), "runner", "serve", "--config", str(self.config)]
        with (self.base / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.clock.command(*words) if self.clock else words,
                env=self.clock.environment if self.clock else None,
                stderr=log,
                # Killed alone, as by the kernel: nothing of its group goes with it.
                start_new_session=True,
            )

    def ready(self) -> bool:
        """Whether it answers; AssertionError when it has ended."""
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"the runner ended: {(self.base / 'log').read_text()[-2000:]}")
        try:
            return httpx.get(f"{self.url}/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End it at once, or as asked, and return when it is gone."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)

    def hint(self) -> None:
        """Let it look at Git at once."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGUSR1)

    def add(
        self, name: str, address: str, identity: Path, host_key: str, *, alone: bool = True
    ) -> None:
        """Onboard a node as an operator does.

        A node of the lab may still have the rights of an earlier test's runner, which is gone.
        """
        if alone:
            release(address, identity)
        login = ["--identity", str(identity), "--host-key", host_key, "--yes"]
        self.margrave("node", "add", name, address, "--site", self.site, *login)

    def remove(self, name: str, *options: str) -> None:
        """Take a node off the site."""
        self.margrave("node", "remove", name, "--site", self.site, "--yes", *options)

    def margrave(self, *words: str) -> str:
        """The operator's command with this runner's configuration."""
        done = subprocess.run(
            [str(COMMAND), *words, "--config", str(self.config)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"margrave {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def status(self) -> Any:
        """What it says of itself."""
        return ask(self.state / "runner.sock", "GET", "/status")

    def told(self, deployment: str = "") -> list[Mapping[str, Any]]:
        """Transitions in the order in which the controller would hear of them."""
        found = [data for kind, data in self._reports() if kind == "placement" and data["to"]]
        return [one for one in found if deployment in ("", one["deployment"])]

    def reached(self, state: str, commit: str) -> set[str]:
        """The nodes that came to a state by a commit; it costs next to nothing to ask."""
        query = (
            "select data ->> 'node' from outbox"
            " where kind = 'placement' and data ->> 'to' = ? and data ->> 'commit' = ?"
        )
        return {str(node) for (node,) in self._rows(query, state, commit)}

    def placements(self, deployment: str) -> dict[str, Mapping[str, Any]]:
        """The newest placement on each node, as the runner keeps it."""
        query = (
            "select node, state, outcome, version, waiting, error, health, operation"
            " from placements where deployment = ? order by incarnation"
        )
        names = query[7:].split(" from ")[0].split(", ")
        rows = self._rows(query, deployment)
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def ansible(self) -> list[tuple[int, str]]:
        """The processes of Ansible runs under way, each with its start."""
        notes = (self.state / "execute/runs").glob("*/pids")
        return [one for note in notes for one in processes.noted(note)]

    def masters(self) -> list[int]:
        """SSH's shared connections to nodes."""
        told = subprocess.run(
            ["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True
        )
        mark = str(self.state)
        lines = [line.split(maxsplit=1) for line in told.stdout.splitlines()]
        return [int(pid) for pid, words in lines[1:] if words.startswith("ssh:") and mark in words]

    def runs(self) -> Sequence[str]:
        """Folders of runs that are under way, or were left behind."""
        folder = self.state / "execute/runs"
        return sorted(one.name for one in folder.glob("*"))

    def _reports(self) -> list[tuple[str, Mapping[str, Any]]]:
        rows = self._rows("select kind, data from outbox order by epoch, seq")
        return [(kind, json.loads(data)) for kind, data in rows]

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        database = f"file:{self.state / 'runner.db'}?mode=ro"
        with sqlite3.connect(database, uri=True, timeout=30) as connection:
            return connection.execute(query, values).fetchall()


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
