"""Machines that `node add` refuses before changing them, and one that has no engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from margrave.errors import Conflict, NotFound
from margrave.secret import Secret
from runner.nodes import Owner, onboard, scripts
from runner.nodes.hostkeys import HostKey
from runner.nodes.login import Answer
from runner.ports import Node, NodeRequest, NodeStatus, Observation, Status, Target

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
OWN = Owner("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb", 1, "harbor")
DEPOT = Owner("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", 1, "depot")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"
SEEN = {
    "system": "debian 12",
    "python": "3.11.2",
    "podman": "",
    "podman_socket": "",
    "docker": "",
    "compose": "1.29.2",
    "free": str(80 * 1024 * 1024),
    "clock": str(int(NOW.timestamp())),
}


class Registry(dict[str, Node]):
    """The nodes in memory."""

    def list(self) -> tuple[Node, ...]:
        return tuple(self.values())

    def get(self, name: str) -> Node:  # type: ignore[override]
        if name not in self:
            raise NotFound(name)
        return self[name]

    def save(self, node: Node) -> None:
        self[node.name] = node

    def remove(self, name: str) -> None:
        self.pop(name, None)


class Machine:
    """A machine that answers the scripts of onboarding, and notes what is run on it."""

    def __init__(self) -> None:
        self.claims = ""
        self.seen = dict(SEEN)
        self.ran: list[str] = []
        self.host_key = HostKey(KEY)

    def run(self, command: str, feed: str = "") -> Answer:
        return self.run_as_root(command, feed)

    def run_as_root(self, script: str, feed: str = "") -> Answer:
        self.ran.append(script)
        printed = "\n".join(f"{name}={value}" for name, value in self.seen.items())
        outputs = {scripts.LOOK: printed, scripts.CLAIMS: self.claims}
        return Answer(0, outputs.get(script, ""), "")

    @property
    def was_changed(self) -> bool:
        return any("useradd" in script for script in self.ran)

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        """Answer as node_info does on a machine without an engine."""
        data = {"capabilities": {"architecture": "amd64", "deployment_types": []}, "checks": []}
        return {node.name: Observation(node.name, Status.OK, data, NOW) for node in nodes}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()

    @contextmanager
    def session(*_: Any) -> Iterator[Machine]:
        yield made

    monkeypatch.setattr(onboard, "session", session)
    return made


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def onboarding(machine: Machine, registry: Registry, tmp_path: Path) -> onboard.Onboard:
    return onboard.Onboard(registry, machine, tmp_path / "ssh", lambda: NOW, lambda: OWN)


def _request(**changes: Any) -> NodeRequest:
    return NodeRequest("press-1", "192.0.2.1", password=Secret("p"), **changes)


@pytest.mark.parametrize(
    "claim",
    [
        f"rights={DEPOT.text()}",
        f"fence={json.dumps({'runner': DEPOT.runner, 'epoch': 1, 'seq': 4})}",
    ],
)
def test_a_machine_of_another_runner_is_refused(
    claim: str, onboarding: onboard.Onboard, machine: Machine, registry: Registry
) -> None:
    """Nothing is installed on it, and nothing is registered."""
    machine.claims = claim

    with pytest.raises(Conflict, match=r"192\.0\.2\.1:22 belongs to"):
        onboarding.add(_request())

    assert not machine.was_changed
    assert registry.list() == ()


def test_a_known_name_at_another_address_is_refused(
    onboarding: onboard.Onboard, machine: Machine, registry: Registry
) -> None:
    """The error names the address that the name has; the registry keeps it."""
    registry.save(Node("press-1", "192.0.2.7", host_key=KEY))

    with pytest.raises(Conflict, match=r'"press-1" is at 192\.0\.2\.7:22 already') as refused:
        onboarding.add(_request())

    assert "--replace" in refused.value.cure
    assert (machine.ran, registry["press-1"].address) == ([], "192.0.2.7")


def test_a_known_name_is_moved_when_asked_for(
    onboarding: onboard.Onboard, registry: Registry
) -> None:
    """With `replace` the name has the new address."""
    registry.save(Node("press-1", "192.0.2.7", host_key=KEY))

    onboarding.add(_request(replace=True))

    assert registry["press-1"].address == "192.0.2.1"


def test_a_machine_without_an_engine_is_unusable(
    onboarding: onboard.Onboard, registry: Registry
) -> None:
    """It is registered with what it lacks, and the cure fits its distribution."""
    added = onboarding.add(_request())

    assert (added.node.status, registry["press-1"].status) == (NodeStatus.UNUSABLE,) * 2
    assert "engine: not found (install podman (apt-get install podman)" in added.node.error
    assert "compose: 1.29.2 is too old" in added.node.error
    assert "apt-get install docker-compose" not in added.node.error
