"""Nodes come in and go, on real systems with a real sshd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lab import Lab
from margrave.errors import Conflict, NotFound, Refused, Unreachable
from margrave.secret import Secret
from runner.execute import AnsibleExecutor
from runner.nodes import Owner, beacon_file
from runner.nodes.keys import own_key, public_line
from runner.nodes.onboard import Onboard
from runner.ports import (
    Jump,
    Node,
    NodeRequest,
    NodeStatus,
    Observation,
    Status,
    Target,
    utc_now,
)

pytestmark = pytest.mark.lab


NODE = "depot-1"
OWN = Owner("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb", 1, "depot")
OTHER = Owner("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", 1, "harbor")
# Tests of other files may have added the node, and left it as it was.
CLEAN = "rm -f /etc/sudoers.d/margrave* ~margrave/.ssh/authorized_keys /var/lib/margrave/fence.json"


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

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        told: dict[str, object] = {"capabilities": {}}
        return {one.name: Observation(one.name, Status.OK, told, utc_now()) for one in nodes}


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
    lab.ssh(NODE, CLEAN, check=False)
    made = Onboard(registry, Satisfied(), tmp_path / "ssh", utc_now, lambda: OWN, connect_timeout=5)
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
    onboard = Onboard(registry, executor, tmp_path / "ssh", utc_now, lambda: OWN)
    lab.ssh(NODE, CLEAN, check=False)
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


def test_a_node_of_another_site_is_refused_and_keeps_its_owner(lab, onboard, tmp_path) -> None:
    """The second runner gets no key there; what it has there already goes alone."""
    onboard.add(request(lab))
    before = rights(lab)
    elsewhere = Registry()
    other = Onboard(elsewhere, Satisfied(), tmp_path / "other", utc_now, lambda: OTHER)
    with pytest.raises(Conflict, match="belongs to site depot"):
        other.add(request(lab, name="press-1"))
    assert (rights(lab), elsewhere.list()) == (before, ())

    # As a version that did not ask let it in.
    line = other_key(tmp_path / "other")
    lab.ssh(NODE, f"echo '{line}' >> ~margrave/.ssh/authorized_keys")
    node = onboard.add(request(lab, private_key=None, user="margrave")).node
    elsewhere.save(replace(node, name="press-1"))
    other.remove("press-1")

    assert rights(lab) == before
    assert lab.ssh(NODE, "su margrave -c 'sudo -n true'", check=False).returncode == 0


def other_key(folder: Path) -> str:
    """The public line of the key that a runner keeps in a folder."""
    return public_line(own_key(folder))


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


def test_a_node_is_looked_at_again_as_when_it_came(lab, onboard, registry) -> None:
    """Way in, engine, disk and clock, over its own SSH; a way that is barred is told as one of
    them, with the cure."""
    onboard.add(request(lab))
    found = {one.name: one for one in onboard.look(NODE)}
    assert {"way in", "python", "engine", "compose", "disk", "clock"} <= set(found)
    assert all(one.ok for one in found.values())
    node = registry.get(NODE)
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"
    registry.nodes[NODE] = replace(node, host_key=other)
    [barred] = onboard.look(NODE)
    registry.save(node)
    assert (barred.name, barred.ok) == ("way in", False)
    assert "the host key is" in barred.detail and barred.cure


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


def test_a_node_behind_a_jump_host_is_brought_in_and_worked_on(lab, registry, tmp_path) -> None:
    """Every connection comes from the jump host: onboarding, checks, looks; its key is held to."""
    gate, node = lab.node("harbor-1").address, lab.node(NODE).address
    line = " ".join(lab.ssh("harbor-1", "cat /etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[:2])
    jump = Jump(gate, 22, "root", line)
    # A place in the log, not a time: the test before may have logged in within the same second.
    shown = "journalctl --sync; journalctl --quiet -o cat -n 1 --show-cursor"
    since = lab.ssh(NODE, shown).stdout.splitlines()[-1].removeprefix("-- cursor: ")

    def through(one: Jump, executor: AnsibleExecutor) -> Onboard:
        return Onboard(
            registry,
            executor,
            tmp_path / "ssh",
            utc_now,
            lambda: OWN,
            key=lab.key,
            jump=lambda _: one,
        )

    executor = AnsibleExecutor(tmp_path / "execute", warm=False)
    executor.open()
    try:
        onboard = through(jump, executor)
        assert onboard.probe(node, 22) == lab.host_key(NODE)
        onboard.add(request(lab))
        assert registry.get(NODE).capabilities["deployment_types"] == ["compose"]
        target = Target(NODE, node, 22, "margrave", str(lab.key), registry.get(NODE).host_key, jump)
        assert executor.observe([target])[NODE].status is Status.OK
        strange = replace(jump, host_key="ssh-ed25519 " + "A" * 68)
        # Over a connection that is open nobody is asked for a key: this one has to be its first.
        other = AnsibleExecutor(tmp_path / "other", connect_timeout=5, warm=False)
        other.open()
        met = other.observe([replace(target, jump=strange)])[NODE]
        other.stop()
        assert met.status is Status.UNREACHABLE
        assert "the jump host" in met.message
        with pytest.raises(Conflict, match="the host key is"):
            through(strange, executor).probe(node, 22)
        onboard.remove(NODE)
        log = f"journalctl --sync; journalctl -u ssh -o cat --after-cursor '{since}'"
        said = lab.ssh(NODE, f"{log} | grep Accepted").stdout
        came = {words.split(" from ")[1].split()[0] for words in said.splitlines()}
        assert gate in came
        # The lab's own commands come from elsewhere, as root; nothing of margrave's does.
        assert not [one for one in said.splitlines() if " margrave " in one and gate not in one]
    finally:
        executor.stop()


def test_its_beacon_gets_a_key_that_only_root_reads(lab, registry, tmp_path) -> None:
    """Written at onboarding, the same again by adding again, gone with the node."""
    told = beacon_file.text({"node": "depot-1", "key": "00"})
    onboard = Onboard(
        registry, Satisfied(), tmp_path / "ssh", utc_now, lambda: OWN, beacon=lambda _: told
    )
    lab.ssh(NODE, CLEAN, check=False)
    look = "stat -c '%a %U' /etc/margrave/beacon.json; cat /etc/margrave/beacon.json"
    for _ in range(2):
        onboard.add(request(lab))
        assert lab.ssh(NODE, look).stdout == "600 root\n" + told
    onboard.remove(NODE)
    assert lab.ssh(NODE, "ls /etc/margrave/beacon.json", check=False).returncode != 0


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
