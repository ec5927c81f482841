"""The page `docs/start.md`, typed line by line by somebody with boxes of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.shop import clean
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[3]
CLI = Path(sys.executable).with_name("margrave")
NODE = "depot-1"
# `plan` says with its exit code that something would change, `doctor` that there is no node yet.
ENDS = {"plan": 4, "doctor": 0}


class Reader:
    """Types what the page says, with the page's addresses replaced by those there are here."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self._serving = ExitStack()
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

    def types(self, line: str) -> None:
        """One line of the page."""
        for there, here in self.words.items():
            line = line.replace(there, here)
        words = shlex.split(line, comments=True)
        assert words[0] == "margrave", line
        if words[2:3] == ["serve"]:
            self._serves(words)
            return
        done = subprocess.run(
            [str(CLI), *words[1:]],
            cwd=self.folder,
            env=self.environment(""),
            input=f"{self.answers['admin']}\n",
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = f"$ {line}\n{done.stdout}{done.stderr}"
        expected = next((code for verb, code in ENDS.items() if verb in words), 0)
        assert done.returncode == expected, said
        self._learns(words, done.stdout)

    def _serves(self, words: list[str]) -> None:
        log = (self.folder / f"{words[1]}.log").open("wb")
        process = subprocess.Popen(
            [str(CLI), *words[1:]],
            cwd=self.folder,
            env=self.environment(words[1]),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self._serving.callback(_stop, process)
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

    def ends(self) -> None:
        """What serves is stopped, the last one first."""
        self._serving.close()


@pytest.fixture
def reader(lab: Lab, tmp_path: Path) -> Iterator[Reader]:
    """Somebody with a node on which nothing was ever deployed."""
    clean(lab, NODE)
    reader = Reader(lab, tmp_path)
    yield reader
    # The node is other tests' too: they begin with one that no runner was let into.
    reader.types("margrave node remove --site harbor --forget --yes press-1")
    reader.ends()
    clean(lab, NODE)


def test_the_page_leads_to_a_running_application(reader: Reader, lab: Lab) -> None:
    """From `margrave init` to an answer on one's own box, with nothing that the page leaves out."""
    page = (ROOT / "docs/start.md").read_text().partition("## Your own boxes")[2]

    for kind, block in re.findall(r"^```(console|toml)\n(.*?)^```", page, re.M | re.S):
        if kind == "toml":
            reader.writes(block)
            continue
        for line in block.splitlines():
            reader.types(line.removeprefix("$ "))

    answer = httpx.get(f"http://{lab.node(NODE).address}:8000/", timeout=10).json()
    assert answer["version"] == "1.0.0"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _ready(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
