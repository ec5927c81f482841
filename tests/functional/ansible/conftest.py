"""A controller, and modules called as Ansible calls them: a process each, JSON in, JSON out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.registry import FakeRegistry
from tests.support.served import ROOT, Served, served

APPS = ROOT / "examples" / "apps"


@dataclass(frozen=True)
class Four:
    """A task in four steps: in check mode, for real, again, again in check mode."""

    would: dict[str, Any]
    did: dict[str, Any]
    again: dict[str, Any]
    would_again: dict[str, Any]

    @property
    def changed(self) -> list[bool]:
        """What each says."""
        return [one["changed"] for one in (self.would, self.did, self.again, self.would_again)]


class Modules:
    """The collection's modules that speak with a controller."""

    def __init__(self, host: subprocess.Popen[str], login: dict[str, str]) -> None:
        self._host, self._login = host, login

    def __call__(self, module: str, *, check: bool = False, **params: Any) -> dict[str, Any]:
        """What the module answers."""
        how = {"_ansible_check_mode": check, "_ansible_diff": True}
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        asked = {"module": module, "params": {**self._login, **params, **how}}
        print(json.dumps(asked), file=self._host.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._host.stdout.readline())
        return answer

    def four(self, module: str, **params: Any) -> Four:
        """The four steps."""
        checks = (True, False, False, True)
        answers = [self(module, check=check, **params) for check in checks]
        assert not [one for one in answers if one.get("failed")], answers
        return Four(*answers)


@pytest.fixture(scope="session")
def host() -> Iterator[subprocess.Popen[str]]:
    """Where modules are called."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.module_host"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'collections'}"},
    )
    with process:
        yield process
        process.stdin.close()  # type: ignore[union-attr]  # it is a pipe, as asked above


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A controller whose registry knows every image."""
    registry = FakeRegistry().start()
    known = [
        {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True},
    ]
    with served(
        tmp_path_factory.mktemp("controller"),
        CATALOG__LOCAL_ROOTS=json.dumps([str(APPS)]),
        REGISTRIES__JSON=json.dumps(known),
    ) as found:
        yield found
    registry.stop()


@pytest.fixture
def module(controller: Served, host: subprocess.Popen[str]) -> Modules:
    """The modules, with the controller's address and token."""
    return Modules(host, {"url": controller.url, "token": controller.token})
