"""A node belongs to one site's runner; another one is refused before it changes anything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from margrave.errors import Conflict
from runner.nodes import Owner, ownership, scripts

A = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
B = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
DEPOT, HARBOR = Owner(A, 1, "depot"), Owner(B, 1, "harbor")


@pytest.mark.parametrize(
    ("owners", "own", "named"),
    [
        ((DEPOT,), HARBOR, "site depot"),
        ((DEPOT,), Owner(B, 9, "harbor"), "site depot"),
        ((Owner(A, 1),), HARBOR, f"another runner ({A}"),
        ((Owner(A, 2, "harbor"),), HARBOR, f"another runner ({A}, epoch 2)"),
    ],
)
def test_a_node_of_another_runner_is_refused(
    owners: tuple[Owner, ...], own: Owner, named: str
) -> None:
    """A high epoch counts at the own site alone; the error says whose the node is."""
    with pytest.raises(Conflict) as refused:
        ownership.check("192.0.2.1:22", owners, own)

    assert f"192.0.2.1:22 belongs to {named}" in refused.value.message
    assert refused.value.cure


@pytest.mark.parametrize(
    "owners", [(), (HARBOR,), (Owner(A, 1, "harbor"),), (Owner(A, 1),), (HARBOR, Owner(A, 1))]
)
def test_a_node_without_another_owner_is_added(owners: tuple[Owner, ...]) -> None:
    """Nobody's, its own, or that of the runner whose site it took over."""
    ownership.check("192.0.2.1:22", owners, Owner(B, 2, "harbor"))


def test_owners_are_read_once_each() -> None:
    """The fence knows the epoch, the rights know the site; what is no mark is passed over."""
    lines = [
        "motd",
        f"fence={json.dumps({'runner': A, 'epoch': 3, 'seq': 7})}",
        f"rights={DEPOT.text()}",
        f"rights={HARBOR.text()}",
        "rights=",
        'fence={"runner": 1}',
    ]

    assert ownership.read("\n".join(lines)) == (Owner(A, 3, "depot"), HARBOR)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder that stands for a node's root."""
    for folder in ("etc/sudoers.d", "etc/margrave", "var/lib/margrave", "home/.ssh"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def _run(node: Path, script: str) -> str:
    """Run a script of onboarding below a folder, as if the user's home were there."""
    for path in ("/etc/sudoers.d", "/etc/margrave", "/var/lib/margrave"):
        script = script.replace(path, f"{node}{path}")
    script = script.replace('$(getent passwd "$user" | cut -d: -f6)', f"{node}/home")
    ran = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True)
    return ran.stdout


def _rights(node: Path, owner: Owner) -> Path:
    """Write the file of a runner's rights."""
    path = node / f"etc/sudoers.d/margrave-{owner.runner}"
    path.write_text(f"# margrave {owner.text()}\nmargrave ALL=(ALL:ALL) NOPASSWD: ALL\n")
    return path


def _fence(node: Path, runner: str) -> Path:
    path = node / "var/lib/margrave/fence.json"
    path.write_text(json.dumps({"epoch": 1, "runner": runner, "seq": 4}, indent=2))
    return path


def test_claims_are_printed_by_the_node(node: Path) -> None:
    """Fence and rights, as `ownership` reads them; a new machine prints none."""
    assert ownership.read(_run(node, scripts.CLAIMS)) == ()
    _fence(node, B)
    _rights(node, DEPOT)

    assert ownership.read(_run(node, scripts.CLAIMS)) == (Owner(B, 1), DEPOT)


def test_removing_a_runner_leaves_the_rights_of_another(node: Path) -> None:
    """Its own key line, rule and claim go; rule, key, claim and beacon of the owner stay."""
    own, other = _rights(node, HARBOR), _rights(node, DEPOT)
    fence, beacon = _fence(node, A), node / "etc/margrave/beacon.json"
    beacon.write_text("{}")
    keys = node / "home/.ssh/authorized_keys"
    keys.write_text("ssh-ed25519 AAAA depot\nssh-ed25519 BBBB harbor\n")

    _run(node, scripts.remove("margrave", "ssh-ed25519 BBBB harbor", HARBOR))

    assert not own.exists()
    assert all(path.exists() for path in (other, fence, beacon))
    assert keys.read_text() == "ssh-ed25519 AAAA depot\n"


def test_removing_the_last_runner_leaves_nothing(node: Path) -> None:
    """Claim and beacon go too, and the rule that an earlier version of `node add` wrote."""
    old = node / "etc/sudoers.d/margrave"
    old.write_text("margrave ALL=(ALL:ALL) NOPASSWD: ALL\n")
    paths = [old, _rights(node, HARBOR), _fence(node, B), node / "etc/margrave/beacon.json"]
    paths[-1].write_text("{}")
    keys = node / "home/.ssh/authorized_keys"
    keys.write_text("ssh-ed25519 BBBB harbor\n")

    _run(node, scripts.remove("margrave", "ssh-ed25519 BBBB harbor", HARBOR))

    assert [path for path in paths if path.exists()] == []


@pytest.mark.parametrize(
    ("rule", "keys"),
    [
        ("margrave ALL=(ALL) NOPASSWD: ALL\n", ""),
        ("margrave ALL=(ALL:ALL) NOPASSWD: ALL\n", "ssh-ed25519 CCCC somebody\n"),
    ],
)
def test_a_rule_that_others_may_need_stays(node: Path, rule: str, keys: str) -> None:
    """That of the role edge_node, and one beside which another key is left."""
    old = node / "etc/sudoers.d/margrave"
    old.write_text(rule)
    (node / "home/.ssh/authorized_keys").write_text(f"{keys}ssh-ed25519 BBBB harbor\n")

    _run(node, scripts.remove("margrave", "ssh-ed25519 BBBB harbor", HARBOR))

    assert old.read_text() == rule
