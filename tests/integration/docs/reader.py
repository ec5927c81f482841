"""Somebody with boxes of their own, who types what a page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
CLI = Path(sys.executable).with_name("margrave")
NODE = "depot-1"
# `plan` says with its exit code that something would change, `doctor` that there is no node yet.
ENDS = {"plan": 4, "doctor": 0}
START = "## Your own boxes"


def start() -> str:
    """The part of `docs/start.md` that leads from nothing to an application on one's own box."""
    return (DOCS / "start.md").read_text().partition(START)[2]


class Reader:
    """Types what the page says, with the page's addresses replaced by those there are here."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self._serving: dict[str, subprocess.Popen[bytes]] = {}
        ports = {"8800": _free_port(), "8801": _free_port()}
        self.url = f"http://127.0.0.1:{ports['8800']}"
        self.answers = {"admin": ""}
        self.words = {
            "/srv/margrave": str(folder / "srv"),
            "http://127.0.0.1:8800": self.url,
            "https://margrave.example": self.url,
            "https://git.example/apps.git": str(ROOT / "examples/apps"),
            "~/.ssh/id_ed25519": str(lab.key),
            "192.0.2.17": lab.node(NODE).address,
            "press-1": NODE,
        }
        registry = {
            "host": "registry.margrave.lab:5000",
            "address": lab.registry_address,
            "insecure": True,
        }
        self._of_process = {
            "controller": {
                "MARGRAVE_HTTP__BIND": f"127.0.0.1:{ports['8800']}",
                "MARGRAVE_CATALOG__LOCAL_ROOTS": json.dumps([str(ROOT / "examples/apps")]),
                "MARGRAVE_REGISTRIES__JSON": json.dumps([registry]),
            },
            "runner": {"MARGRAVE_HTTP__BIND": f"127.0.0.1:{ports['8801']}"},
        }

    def environment(self, room: str) -> dict[str, str]:
        """A user's own, and what this machine asks of the process."""
        here = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        path = f"{CLI.parent}:{os.environ['PATH']}"
        return {**os.environ, **here, "PATH": path, **self._of_process.get(room, {})}

    def follows(self, page: str) -> None:
        """All that a part of a page says, in its order: what to type, and the runner's file."""
        for kind, block in re.findall(r"^```(console|toml)\n(.*?)^```", page, re.M | re.S):
            if kind == "toml":
                self.writes(block)
                continue
            for line in block.splitlines():
                self.types(line.removeprefix("$ "))

    def types(self, line: str, ends: int | None = None) -> str:
        """One line of the page; what it says, when it ends as expected."""
        for there, here in self.words.items():
            line = line.replace(there, here)
        words = shlex.split(line, comments=True)
        assert words[0] == "margrave", line
        if words[2:3] == ["serve"]:
            self._serves(words)
            return ""
        done = subprocess.run(
            [str(CLI), *words[1:]],
            cwd=self.folder,
            env=self.environment(words[1]),
            input=f"{self.answers['admin']}\n",
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = f"$ {line}\n{done.stdout}{done.stderr}"
        expected = next((code for verb, code in ENDS.items() if verb in words), 0)
        assert done.returncode == (expected if ends is None else ends), said
        self._learns(words, done.stdout)
        return done.stdout + done.stderr

    def runs(self, line: str, given: str = "") -> None:
        """Run a line of the page that is a program of the system, with this as its input."""
        for there, here in self.words.items():
            line = line.replace(there, here)
        subprocess.run(
            shlex.split(line, comments=True),
            cwd=self.folder,
            input=given,
            check=True,
            text=True,
            timeout=60,
        )

    def restarts_runner(self, toml: str) -> None:
        """Add a part to the runner's file, and start the runner with it."""
        for there, here in self.words.items():
            toml = toml.replace(there, here)
        with (self.folder / "margrave.toml").open("a") as file:
            file.write(toml)
        self.stops("runner")
        self.types("margrave runner serve")

    def _serves(self, words: list[str]) -> None:
        with (self.folder / f"{words[1]}.log").open("ab") as log:
            self._serving[words[1]] = subprocess.Popen(
                [str(CLI), *words[1:]],
                cwd=self.folder,
                env=self.environment(words[1]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        bind = self._of_process[words[1]]["MARGRAVE_HTTP__BIND"]
        eventually(lambda: _ready(f"http://{bind}/readyz"), 60, f"{words[1]} to be ready")

    def _learns(self, words: list[str], said: str) -> None:
        """What is shown once and has to be written down."""
        if words[1] == "init":
            found = re.search(r"^\s*password\s+(\S+)$", said, re.M)
            assert found is not None, said
            self.answers["admin"] = found[1]
        if words[1:3] == ["site", "add"]:
            self.words["…"] = said.split()[-1]

    def writes(self, toml: str) -> None:
        """The runner's file, as the page shows it."""
        for there, here in self.words.items():
            toml = toml.replace(there, here)
        (self.folder / "margrave.toml").write_text(toml)
        (self.folder / "margrave.toml").chmod(0o600)

    def stops(self, room: str) -> None:
        """What serves is asked to end, and does."""
        process = self._serving.pop(room)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)

    def ends(self) -> None:
        """All that serves is stopped, the last one first."""
        for room in reversed(tuple(self._serving)):
            self.stops(room)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _ready(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
