"""A person who follows the pages of the documentation, line by line."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx

from tests.integration.docs.configuration import merge
from tests.integration.docs.pages import DOCS
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = DOCS.parent
CLI: Final = Path(sys.executable).with_name("margrave")
# A plan reports with its exit code that something would change.
EXIT_CODES: Final = {"plan": 4}
START: Final = "## Your own boxes"
_SETTING: Final = re.compile(r"[A-Z_]+=")


def start() -> str:
    """Return the part of `docs/start.md` that leads to an application on one's own box."""
    return (DOCS / "start.md").read_text().partition(START)[2]


def start_of_site() -> str:
    """Return that part up to a site whose runner serves and that has no node yet."""
    return start().partition("$ margrave node add")[0] + "```\n"


class Reader:
    """A person with an empty folder, who types the commands of the pages.

    Names and addresses of a page are replaced by those of this machine (`words`). `executed` has
    each command and each text as the page has it.
    """

    def __init__(self, folder: Path, words: Mapping[str, str], path: str = "") -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.executed: set[str] = set()
        self.ports = {"controller": _free_port(), "runner": _free_port()}
        self.url = f"http://127.0.0.1:{self.ports['controller']}"
        self.tls: ssl.SSLContext | None = None  # how to reach the controller behind TLS
        self.password = ""
        self.token = ""
        self.words = {
            "/srv/margrave": str(folder / "srv"),
            "http://127.0.0.1:8800": self.url,
            "https://margrave.example": self.url,
            "https://git.example/apps.git": str(ROOT / "examples/apps"),
            **words,
        }
        self.settings: dict[str, dict[str, str]] = {
            process: {"MARGRAVE_HTTP__BIND": f"127.0.0.1:{port}"}
            for process, port in self.ports.items()
        }
        self._path = f"{path}{CLI.parent}:{os.environ['PATH']}"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def controller_file(self) -> Path:
        """Return the controller's configuration."""
        return self.folder / "srv/margrave.toml"

    @property
    def runner_file(self) -> Path:
        """Return the runner's configuration."""
        return self.folder / "margrave.toml"

    def replaced(self, text: str) -> str:
        """Return the text with names of this machine; a longer word goes before a shorter one."""
        for word in sorted(self.words, key=len, reverse=True):
            text = text.replace(word, self.words[word])
        return text

    def follow(self, page: str) -> None:
        """Follow a part of a page: type its commands, write the runner's file."""
        for kind, block in re.findall(r"^```(console|toml)\n(.*?)^```", page, re.M | re.S):
            if kind == "toml":
                self.write(self.runner_file, block)
                continue
            for line in block.splitlines():
                self.type(line.removeprefix("$ "))

    def type(
        self, line: str, code: int | None = None, *, more: str = "", answer: str | None = None
    ) -> str:
        """Type a line; return what it prints if it ends with the expected exit code.

        `more` is typed behind it. `answer` is given to its question, else the admin's password.
        """
        self.executed.add(line)
        words = shlex.split(self.replaced(f"{line} {more}" if more else line), comments=True)
        settings = {}
        while _SETTING.match(words[0]):
            name, _, value = words.pop(0).partition("=")
            settings[name] = value
        process = words[1] if words[0] == "margrave" else ""
        if words[2:3] == ["serve"]:
            self.start(process, *words[3:])
            return ""
        done = subprocess.run(
            [str(CLI) if process else words[0], *words[1:]],
            cwd=self._folder_of(process),
            env=self._environment(process) | settings,
            input=f"{self.password}\n" if answer is None else answer,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            start_new_session=True,  # without a terminal: programs ask on standard input
        )
        expected = next((code for verb, code in EXIT_CODES.items() if verb in words), 0)
        shown = f"$ {shlex.join(words)}\n{done.stdout}{done.stderr}"
        assert done.returncode == (expected if code is None else code), (
            f"{done.returncode}: {shown}"
        )
        if done.returncode == 0:
            self._note(words, done.stdout)
        return done.stdout + done.stderr

    def write(self, path: Path, text: str) -> None:
        """Write a text of a page into a file that only this person can read."""
        self.executed.add(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.replaced(text))
        path.chmod(0o600)

    def configure(self, path: Path, toml: str) -> None:
        """Add a text of a page to a configuration; keys that are there get its values."""
        self.executed.add(toml)
        merge(path, self.replaced(toml))

    def start(self, process: str, *options: str) -> None:
        """Serve, until it is ready; AssertionError with the log when it is not."""
        log = self.folder / f"{process}.log"
        with log.open("wb") as output:
            serving = subprocess.Popen(
                [str(CLI), process, "serve", *options],
                cwd=self._folder_of(process),
                env=self._environment(process),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._processes[process] = serving

        def is_ready() -> bool:
            ended = serving.poll()
            if ended is not None:
                raise RuntimeError(f"{process} ended with {ended}: {log.read_text()[-3000:]}")
            return self.is_ready(process)

        eventually(is_ready, 90, f"{process} is ready")

    def refused_start(self, process: str) -> str:
        """Return what a start prints that has to fail."""
        done = subprocess.run(
            [str(CLI), process, "serve"],
            cwd=self._folder_of(process),
            env=self._environment(process),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode not in (0, -signal.SIGTERM), done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def is_ready(self, process: str) -> bool:
        """Return whether it answers at its port that it can do its work."""
        tls = self.tls if process == "controller" else None
        url = f"{'https' if tls else 'http'}://127.0.0.1:{self.ports[process]}/readyz"
        try:
            return httpx.get(url, timeout=5, verify=tls or False).status_code == 200
        except httpx.HTTPError:
            return False

    def log(self, process: str) -> str:
        """Return what a process has written since its last start."""
        return (self.folder / f"{process}.log").read_text()

    def stop(self, process: str) -> None:
        """Ask a process to end, and wait until it has."""
        serving = self._processes.pop(process)
        serving.send_signal(signal.SIGTERM)
        serving.wait(timeout=60)

    def restart(self, process: str) -> None:
        """Stop and start a process with the configuration that is there now."""
        self.stop(process)
        self.start(process)

    def close(self) -> None:
        """Stop everything that serves, the last one first."""
        for process in reversed(tuple(self._processes)):
            self.stop(process)

    def api(self) -> httpx.Client:
        """Return the API of the controller as the admin."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=60)

    def _folder_of(self, process: str) -> Path:
        """Return where commands of a process are typed: the controller has its own folder."""
        return self.folder / "srv" if process == "controller" else self.folder

    def _environment(self, process: str) -> dict[str, str]:
        """Return a user's own environment with the settings of the process here."""
        own = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        settings = self.settings.get(process, {})
        return {**os.environ, **own, "PATH": self._path, **settings}

    def _note(self, words: list[str], printed: str) -> None:
        """Write down what is shown once: the admin's password and token, the token of a site."""
        if words[1] == "init":
            self.password = _shown("password", printed)
            self.token = _shown("token", printed)
        if words[1:3] == ["site", "add"]:
            self.words["…"] = printed.split()[-1]


def _shown(name: str, printed: str) -> str:
    found = re.search(rf"^\s*{name}\s+(\S+)$", printed, re.M)
    assert found is not None, printed
    return found[1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
