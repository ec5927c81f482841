"""Looks at nodes without Ansible: what workload_info would answer, several times as fast.

The code is the collection's own, which lies on the node as it does for the actions of its modules;
a look costs one command over the connection that is open anyway. Whatever is not a plain answer is
asked again the long way, which knows every way in which a node can fail.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

from ansible_collections.margrave.edge.plugins.plugin_utils.node_code import NOT_THERE, node_code

from runner.execute import meaning
from runner.execute.lines import UNREACHABLE
from runner.ports import Observation, Status, Target, utc_now

# Without a look at what else is installed there, which takes as long as the rest of the start.
PYTHON: Final = "/usr/bin/python3 -S"
KIND: Final = "info"


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
    ) -> None:
        self._commands = commands
        self._doors = doors
        self._lock = threading.Lock()
        self._stopped = False
        # No variable of the runner's own; ssh needs none but where to look for itself.
        self._environment = {name: environment[name] for name in ("PATH", "HOME", "LC_ALL")}

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
            done = self._ask(node, deployment, seconds)
        except subprocess.TimeoutExpired:
            return Status.LOST, meaning.lost(meaning.DEADLINE)
        except _Stopped:
            return Status.LOST, meaning.lost(meaning.STOPPED)
        if done.returncode == UNREACHABLE:
            return meaning.read("runner_on_unreachable", {"msg": _text(done.stderr)})
        return _answer(done.stdout) if done.returncode == 0 else None

    def _ask(
        self, node: Target, deployment: str, seconds: float
    ) -> subprocess.CompletedProcess[bytes]:
        code = node_code()
        script = f"exec {code.call(PYTHON, KIND)}"
        given = json.dumps({"params": {"deployment": deployment or None}}).encode()
        done = self._run(node, script, seconds, given)
        if done.returncode == NOT_THERE:
            self._run(node, code.lay(PYTHON), seconds, code.archive)
            done = self._run(node, script, seconds, given)
        return done

    def _run(
        self, node: Target, script: str, seconds: float, data: bytes
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
