"""The storefront on a lab node, and the collection's modules called for it over SSH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import urllib.request
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from lab import Lab

NODE = "depot-1"
# What is promised for every engine is shown on the dearer one too, where there is time.
ENGINES = ["podman", pytest.param("docker", marks=pytest.mark.full)]
ROOT = Path(__file__).resolve().parents[2]


# Some phases last for a blink: one process that goes before all others, and not a new one per look.
KILLING = """
import json, os, select, signal, sys, time
phase, folder, lock = sys.argv[1:]
# What is fetched ahead is noted in no journal: there the files tell.
ahead = {"unpacked": "components", "fetching": "release.json"}.get(phase)


def reached():
    try:
        if ahead:
            place = os.path.join(folder, "releases")
            return any(ahead in os.listdir(os.path.join(place, one)) for one in os.listdir(place))
        with open(os.path.join(folder, "journal.json")) as file:
            return json.load(file)["phase"] == phase
    except FileNotFoundError:
        return False


os.setpriority(os.PRIO_PROCESS, 0, -20)
end = time.monotonic() + 240
while time.monotonic() < end:
    select.select([], [], [], 0.001)
    if reached():
        with open(lock) as file:
            os.kill(json.load(file)["pid"], signal.SIGKILL)
        sys.exit(0)
sys.exit("not seen: " + phase)
"""


@dataclass(frozen=True)
class Step:
    """One module call."""

    module: str
    arguments: dict[str, Any]
    check: bool = False
    diff: bool = False
    words: dict[str, Any] = field(default_factory=dict)  # others of its task


def four(step: Step) -> tuple[Step, ...]:
    """Check, act, act again, check again, each with its diff."""
    check, act = (Step(step.module, step.arguments, check=one, diff=True) for one in (True, False))
    return (check, act, act, check)


def assert_alike(answers: Sequence[dict[str, Any]]) -> None:
    """Of these four, what is checked is what happens: all but how long and how far it was."""
    # The facts are Ansible's own, told once a play.
    apart = ("durations", "phase", "ansible_facts")
    plain = [{name: value for name, value in one.items() if name not in apart} for one in answers]
    check, act, again, check_again = plain
    assert check == act, _differing(check, act)
    assert check_again == again, _differing(check_again, again)


def _differing(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (one.get(name), other.get(name))
        for name in {*one, *other}
        if one.get(name) != other.get(name)
    }


@dataclass
class Shop:
    """One deployment of the storefront on one node, and how to call the modules for it."""

    lab: Lab
    folder: Path
    packages: dict[str, Path]
    node: str = NODE
    deployment: str = field(default_factory=lambda: str(uuid.uuid4()))
    runner: str = field(default_factory=lambda: str(uuid.uuid4()))
    # On the node; named, because the call for which Ansible looks for one carries the module along.
    python: str = "/usr/bin/python3"
    directly: bool = True  # where the collection's code lies; else as Ansible carries a module
    engine: str = "podman"

    def fence(self, seq: int, epoch: int = 1, runner: str | None = None) -> dict[str, Any]:
        """A fence of this deployment's runner, or of another one."""
        return {"fence": {"runner": runner or self.runner, "epoch": epoch, "seq": seq}}

    def content(self, version: str, greeting: str = "hello", timeout: int = 60) -> dict[str, Any]:
        """Parameters of install and update for a version."""
        revision = sha256(f"{version} {greeting}".encode()).hexdigest()
        return {
            "deployment": self.deployment,
            "name": "storefront",
            "application": "com-example-storefront",
            "version": version,
            "revision": f"sha256:{revision}",
            "components": [
                {
                    "name": "storefront",
                    "src": str(self.packages[version]),
                    "variables": {"GREETING": greeting},
                    "timeout": timeout,
                }
            ],
        }

    def install(self, version: str, *, check: bool = False, **more: Any) -> Step:
        """A call of workload_install."""
        return Step("workload_install", {**self.content(version), **more}, check)

    def update(self, version: str, *, check: bool = False, **more: Any) -> Step:
        """A call of workload_update."""
        return Step("workload_update", {**self.content(version), **more}, check)

    def delete(self, *, check: bool = False, **more: Any) -> Step:
        """A call of workload_delete."""
        return Step("workload_delete", {"deployment": self.deployment, **more}, check)

    def rollback(self, *, check: bool = False, **more: Any) -> Step:
        """A call of workload_rollback."""
        return Step("workload_rollback", {"deployment": self.deployment, **more}, check)

    def prefetch(self, version: str, **more: Any) -> Step:
        """A call of workload_prefetch."""
        return Step("workload_prefetch", {**self.content(version), **more})

    def call(self, *steps: Step) -> list[dict[str, Any]]:
        """The results of the calls, one after the other."""
        running = self.begin(*steps)
        return running.results()

    def one(self, step: Step) -> dict[str, Any]:
        """The result of one call."""
        return self.call(step)[0]

    def begin(self, *steps: Step) -> Running:
        """Start the calls, and do not wait for them."""
        name = uuid.uuid4().hex
        answers, playbook = self.folder / f"{name}.answers", self.folder / f"{name}.json"
        playbook.write_text(json.dumps([_play(steps, answers, self.python)]))
        node = self.lab.node(self.node)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_PIPELINING": str(self.directly),
            "ANSIBLE_PRIVATE_KEY_FILE": str(self.lab.key),
            "LC_ALL": "C.UTF-8",
        }
        process = subprocess.Popen(
            ["ansible-playbook", "-u", "root", "-i", f"{node.address},", str(playbook)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Running(process, answers)

    def kill_at(self, phase: str, step: Step) -> None:
        """Begin a call, and kill its module on the node as soon as its journal says the phase.

        One that fetches ahead keeps none: it is killed when it has `unpacked`, or is `fetching`.
        """
        folder = f"/var/lib/margrave/deployments/{self.deployment}"
        lock = f"/run/margrave/{self.deployment}.lock"
        running = self.begin(step)
        command = f"python3 - {phase} {folder} {lock}"
        self.lab.ssh(self.node, command, input=KILLING, timeout=300, check=True)
        running.results()

    def ssh(self, command: str) -> str:
        """What a command on the node prints."""
        return self.lab.ssh(self.node, command, check=True).stdout

    def page(self) -> dict[str, Any]:
        """What the storefront answers from outside of the node."""
        url = f"http://{self.lab.node(self.node).address}:8000/"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)

    def clean(self) -> None:
        """Leave the node as it was."""
        clean(self.lab, self.node, self.engine)


def clean(lab: Lab, node: str, engine: str = "podman") -> None:
    """Leave a node as it was before anything was deployed to it."""
    lab.ssh(
        node,
        textwrap.dedent(
            """
            for kind in container network volume; do
              case $kind in container) all=-aq;; *) all=-q;; esac
              ENGINE $kind ls $all --filter label=margrave.deployment |
                xargs -r ENGINE $kind rm -f >/dev/null
            done
            ENGINE rm -f foreign >/dev/null 2>&1
            rm -rf /var/lib/margrave/* /run/margrave /etc/sudoers.d/margrave-*
            """
        ).replace("ENGINE", engine),
        check=True,
    )


@dataclass
class Running:
    """Calls under way."""

    process: subprocess.Popen[str]
    answers: Path

    def results(self) -> list[dict[str, Any]]:
        """Wait, and give the results."""
        output, _ = self.process.communicate(timeout=600)
        assert self.answers.exists(), output
        found: list[dict[str, Any]] = json.loads(self.answers.read_text())
        return found


def _play(steps: Sequence[Step], answers: Path, python: str) -> dict[str, Any]:
    tasks: list[dict[str, Any]] = [
        {
            f"margrave.edge.{step.module}": step.arguments,
            "check_mode": step.check,
            "diff": step.diff,
            "ignore_errors": True,
            "ignore_unreachable": True,
            "register": f"step{index}",
            **step.words,
        }
        for index, step in enumerate(steps)
    ]
    names = ", ".join(f"step{index}" for index in range(len(steps)))
    tasks.append(
        {
            "ansible.builtin.copy": {
                "content": "{{ [" + names + "] | to_json }}",
                "dest": str(answers),
                "mode": "0600",
            },
            "delegate_to": "localhost",
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
            "ignore_unreachable": True,
        }
    )
    given = {"ansible_python_interpreter": python} if python else {}
    return {"hosts": "all", "gather_facts": False, "vars": given, "tasks": tasks}
