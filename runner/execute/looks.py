"""Looks at nodes without Ansible: what workload_info would answer, several times as fast.

The code is the collection's own. It is laid into the node's /run once per boot, where Python also
keeps it compiled; a look then costs one command over the connection that is open anyway. Whatever
is not a plain answer is asked again the long way, which knows every way in which a node can fail.
"""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import subprocess
import threading
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

from runner.execute import meaning
from runner.execute.content import COLLECTION
from runner.execute.lines import UNREACHABLE
from runner.ports import Observation, Status, Target, utc_now

FOLDER: Final = "/run/margrave-look"
UTILS: Final = COLLECTION / "plugins" / "module_utils"
MODULE: Final = ".".join((*UTILS.parts, "_look"))
NOT_THERE: Final = 66
PYTHON: Final = ("/usr/bin/python3", "-I", "-S")

# What is laid down is whole or not there; what an older runner laid down goes.
UNPACK: Final = """
import io, os, shutil, sys, zipfile
folder, name = sys.argv[1:]
os.makedirs(folder, 0o700, exist_ok=True)
draft, place = (os.path.join(folder, one) for one in (name + ".new", name))
shutil.rmtree(draft, ignore_errors=True)
zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).extractall(draft)
for one in os.listdir(folder):
    if one != name + ".new":
        shutil.rmtree(os.path.join(folder, one), ignore_errors=True)
os.rename(draft, place)
"""


class Commands(Protocol):
    """Words that run shell text as root on a node."""

    def command(self, node: Target, script: str) -> list[str]:
        """The words."""


class Doors(Protocol):
    """Opens the connections that commands go over."""

    def open(self, node: Target) -> str:
        """Return when it is there; else what ssh said."""


class _Stopped(Exception):
    """The runner ends."""


class Looks:
    """Asks nodes for what workload_info tells; safe to use from many threads."""

    def __init__(
        self,
        commands: Commands,
        doors: Doors,
        environment: Mapping[str, str],
        collections: Path,
    ) -> None:
        self._commands = commands
        self._doors = doors
        self._lock = threading.Lock()
        self._stopped = False
        # No variable of the runner's own; ssh needs none but where to look for itself.
        self._environment = {name: environment[name] for name in ("PATH", "HOME", "LC_ALL")}
        self._collections = collections

    def all(
        self, nodes: Sequence[Target], deployment: str, seconds: float, width: int
    ) -> dict[str, Observation]:
        """What these nodes say, so many at a time; those to be asked the long way are left out."""
        found: dict[str, Observation] = {}

        def one(node: Target) -> None:
            seen = self.look(node, deployment, seconds)
            if seen is not None:
                status, data = seen
                told = str((data.get("error") or {}).get("message") or "")
                found[node.name] = Observation(node.name, status, data, utc_now(), told)

        with ThreadPoolExecutor(max(1, min(len(nodes), width))) as pool:
            list(pool.map(one, nodes))
        return found

    def look(
        self, node: Target, deployment: str, seconds: float
    ) -> tuple[Status, dict[str, Any]] | None:
        """Status and data as an errand would have them; None: ask the long way."""
        try:
            said = self._doors.open(node)
            if said and not self._stopped:
                return meaning.read("runner_on_unreachable", {"msg": said})
            done = self._run(node, self._script(deployment), seconds)
            if done.returncode == NOT_THERE:
                self._run(node, self._unpack, seconds, self._archive)
                done = self._run(node, self._script(deployment), seconds)
        except subprocess.TimeoutExpired:
            return Status.LOST, meaning.lost(meaning.DEADLINE)
        except _Stopped:
            return Status.LOST, meaning.lost(meaning.STOPPED)
        if done.returncode == UNREACHABLE:
            return meaning.read("runner_on_unreachable", {"msg": _text(done.stderr)})
        return _answer(done.stdout) if done.returncode == 0 else None

    def _run(
        self, node: Target, script: str, seconds: float, data: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        words = self._commands.command(node, script)
        with self._begin(words) as process:
            try:
                out, err = process.communicate(data, seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def _begin(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._lock:  # what has begun before `stop` returns is there for the sweep
            if self._stopped:
                raise _Stopped
            return subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Nothing begins any more: what has not been asked yet is lost."""
        with self._lock:
            self._stopped = True

    def _script(self, deployment: str) -> str:
        place = f"{FOLDER}/{self._name}"
        program = f"import sys; sys.path.insert(0, {place!r}); from {MODULE} import main; main()"
        words = shlex.join([*PYTHON, "-c", program, *([deployment] if deployment else [])])
        return f"[ -d {place} ] || exit {NOT_THERE}; umask 077; exec {words}"

    @cached_property
    def _unpack(self) -> str:
        return f"umask 077; exec {shlex.join([*PYTHON, '-c', UNPACK, FOLDER, self._name])}"

    @cached_property
    def _name(self) -> str:
        return hashlib.sha256(self._archive).hexdigest()[:16]

    @cached_property
    def _archive(self) -> bytes:
        """The collection's code for nodes, the same bytes for the same files."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((self._collections / UTILS).glob("_*.py")):
                # Without a time: this one is the oldest that an archive can hold.
                entry = zipfile.ZipInfo((UTILS / file.name).as_posix(), (1980, 1, 1, 0, 0, 0))
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
        return buffer.getvalue()


def _answer(said: bytes) -> tuple[Status, dict[str, Any]] | None:
    try:
        found = json.loads(said)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return meaning.read("runner_on_failed" if found.get("error") else "runner_on_ok", found)


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
