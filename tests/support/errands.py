"""Calls to nodes of a lab by a runner's own hands: made, carried out, and waited for."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab import Lab
from margrave import digest, folder
from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor
from runner.ports import Call, Progress, Result, Target

APPS = Path(__file__).resolve().parents[2] / "examples/apps/storefront"


class Results:
    """Collects results and lines; can be waited for."""

    def __init__(self, wanted: int) -> None:
        self.by_operation: dict[str, Result] = {}
        self.lines: list[Progress] = []
        self._wanted = wanted
        self._all = threading.Event()

    def take(self, result: Result) -> None:
        """One more."""
        assert result.operation not in self.by_operation, "a second result for one call"
        self.by_operation[result.operation] = result
        if len(self.by_operation) == self._wanted:
            self._all.set()

    def wait(self, timeout: float = 60) -> dict[str, Result]:
        """All of them, by operation."""
        assert self._all.wait(timeout), f"only {sorted(self.by_operation)}"
        return self.by_operation


def of_lab(lab: Lab, name: str) -> Target:
    """A node of the lab as root reaches it."""
    line = lab.ssh(name, "cat /etc/ssh/ssh_host_ed25519_key.pub").stdout
    key = " ".join(line.split()[:2])
    return Target(name, lab.node(name).address, 22, "root", str(lab.key), key)


def mentioning(path: Path) -> list[str]:
    """Command lines of processes that name the path."""
    told = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    return [line for line in told.stdout.splitlines() if str(path) in line]


def install(target: Target, deployment: str, version: str = "1.0.0", **changes: Any) -> Call:
    """An install of the storefront of the examples."""
    source = APPS / version / "compose"
    component = {
        "name": "storefront",
        "src": str(source),
        "digest": digest.of_files(folder.read(source)),
        "variables": {"GREETING": changes.pop("greeting", "hello")},
        "timeout": changes.pop("timeout", 15),
        **changes.pop("component", {}),
    }
    arguments = {
        "deployment": deployment,
        "name": "storefront",
        "application": "com-example-storefront",
        "version": version,
        "revision": f"sha256:{version.replace('.', '') * 21}0",
        "components": [component],
        "force": True,
    }
    return Call(f"install-{version}", Kind.INSTALL, target, arguments, changes.get("deadline", 60))


def carry(executor: AnsibleExecutor, calls: Sequence[Call]) -> Results:
    """Begin them."""
    results = Results(len(calls))
    executor.start(calls, results.lines.append, results.take)
    return results
