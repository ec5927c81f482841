"""Nodes come in and go, on real systems with a real sshd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from margrave.errors import Conflict, NotFound, Refused, Unreachable
from margrave.secret import Secret
from runner.execute import AnsibleExecutor
from runner.nodes import Onboard
from runner.ports import Node, NodeRequest, NodeStatus, Observation, Status, Target, utc_now

pytestmark = pytest.mark.lab


NODE = "depot-1"


class Registry:
    """The nodes in memory."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def list(self) -> tuple[Node, ...]:
        return tuple(self.nodes.values())

    def get(self, name: str) -> Node:
        if name not in self.nodes:
            raise NotFound(name)
        return self.nodes[name]

    def save(self, node: Node) -> None:
        self.nodes[node.name] = node

    def remove(self, name: str) -> None:
        self.nodes.pop(name, None)


class Satisfied:
    """Finds every node in order, for the tests that are not about what a node can do."""

    def inspect(self, node: Target) -> Observation:
        return Observation(node.name, Status.OK, {"capabilities": {}}, utc_now())


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[AnsibleExecutor]:
    made = AnsibleExecutor(tmp_path / "execute", warm=False)
    made.open()
    yield made
    made.stop()


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def onboard(lab: Lab, registry: Registry, tmp_path: Path) -> Iterator[Onboard]:
    made = Onboard(registry, Satisfied(), tmp_path / "ssh", utc_now, connect_timeout=5)
    yield made
    for node in registry.list():
        made.remove(node.name)


def request(lab: Lab, **changes: object) -> NodeRequest:
    values: dict[str, object] = {
        "name": NODE,
        "address": lab.node(NODE).address,
        "private_key": Secret(lab.key.read_text(encoding="utf-8")),
        "labels": {"zone": "yard"},
    }
    return NodeRequest(**{**values, **changes})  # type: ignore[arg-type]


def rights(lab: Lab) -> str:
    """What our presence on the node amounts to: sudo rule and keys."""
    command = "ls /etc/sudoers.d; cat ~margrave/.ssh/authorized_keys 2>/dev/null"
    return str(lab.ssh(NODE, command, check=False).stdout)


def test_a_node_comes_in_and_goes(lab, executor, registry, tmp_path) -> None:
    """A root key once; then our own user, pinned key, capabilities; nothing of it at the end."""
    onboard = Onboard(registry, executor, tmp_path / "ssh", utc_now)
    before = rights(lab)
    added = onboard.add(request(lab, host_key=lab.host_key(NODE)))
    assert added.host_key == lab.host_key(NODE) == onboard.probe(lab.node(NODE).address, 22)
    assert [one for one in added.checks if not one.ok] == []
    node = registry.get(NODE)
    assert (node.user, node.labels, node.status) == (
        "margrave",
        {"zone": "yard"},
        NodeStatus.ACTIVE,
    )
    assert node.host_key.startswith("ssh-ed25519 ")
    assert node.capabilities["deployment_types"] == ["compose"]
    assert "margrave" in rights(lab)
    onboard.remove(NODE)
    assert registry.list() == ()
    assert rights(lab) == before


def test_adding_again_changes_nothing_and_needs_no_login(lab, onboard, registry) -> None:
    """The key that is there already is login enough, and there is one of it."""
    onboard.add(request(lab))
    once = rights(lab)
    onboard.add(request(lab, private_key=None, user="margrave"))
    assert rights(lab) == once
    assert len(registry.list()) == 1


def test_another_host_key_than_the_expected_one_stops_it(lab, onboard, registry) -> None:
    """Neither a fingerprint that differs nor a pinned key that changed is let pass."""
    with pytest.raises(Conflict, match="not SHA256:AAAA"):
        onboard.add(request(lab, host_key="SHA256:" + "A" * 43))
    onboard.add(request(lab))
    node = registry.get(NODE)
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"
    registry.nodes[NODE] = Node(NODE, node.address, host_key=other)
    with pytest.raises(Conflict, match="somebody else may be answering"):
        onboard.add(request(lab))
    registry.save(node)


@pytest.mark.parametrize(
    ("change", "refusal", "says"),
    [
        ({"private_key": None, "password": Secret("wrong")}, Refused, "refuses the login of root"),
        ({"private_key": Secret("no key")}, Refused, "cannot be read"),
        ({"private_key": None, "user": "nobody"}, Refused, "refuses the login of nobody"),
        ({"port": 2200}, Unreachable, "Connection refused"),
        ({"address": "203.0.113.1.invalid"}, Unreachable, "no SSH there"),
    ],
)
def test_a_login_that_fails_says_why_and_leaves_nothing(
    change, refusal, says, lab, onboard, registry
) -> None:
    """Each way to fail has its own words and a cure, and no node is registered."""
    with pytest.raises(refusal, match=says) as caught:
        onboard.add(request(lab, **change))
    assert caught.value.cure
    assert registry.list() == ()


def test_one_address_is_one_node(lab, onboard) -> None:
    """A second name for the same address is refused with the first one's."""
    onboard.add(request(lab))
    with pytest.raises(Conflict, match=f'is the node "{NODE}" already'):
        onboard.add(request(lab, name="other"))


def test_a_user_without_sudo_is_told_so(lab, onboard) -> None:
    """A login that works but may not become root is refused with the cure."""
    key = lab.ssh(NODE, "useradd -m plain && cp -r /root/.ssh ~plain/ && chown -R plain: ~plain")
    assert key.returncode == 0
    try:
        with pytest.raises(Refused, match="plain may not become root there"):
            onboard.add(request(lab, user="plain"))
    finally:
        lab.ssh(NODE, "userdel -rf plain", check=False)


ASKS = """
useradd -m asks
echo "asks:it's 1" | chpasswd
echo 'asks ALL=(ALL) ALL' > /etc/sudoers.d/asks
echo 'PasswordAuthentication yes' > /etc/ssh/sshd_config.d/00-test.conf
systemctl restart ssh
"""
NO_MORE = """
rm -f /etc/sudoers.d/asks /etc/ssh/sshd_config.d/00-test.conf
userdel -rf asks
systemctl restart ssh
"""


def test_a_password_for_ssh_and_sudo_is_enough(lab, onboard) -> None:
    """A user whose sudo asks for the password comes in with it."""
    lab.ssh(NODE, ASKS)
    try:
        asks = request(lab, user="asks", private_key=None, password=Secret("it's 1"))
        assert onboard.add(asks).node.user == "margrave"
    finally:
        lab.ssh(NODE, NO_MORE, check=False)
