"""A real controller's fleet is an inventory that playbooks work with."""

from __future__ import annotations

import json
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hand import NODES, Hand
from tests.support.served import Served, served

pytestmark = pytest.mark.lab


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Served]:
    """A controller of this test's own."""
    with served(tmp_path) as found:
        yield found


def _register(controller: Served, hand: Hand, *deployments: str) -> None:
    """The site, and its nodes as its runner reports them, with what stands on the first."""
    token = controller.post("/sites", {"name": "harbor"})["token"]
    nodes = [
        {"name": name, "address": hand.lab.node(name).address, "labels": {"zone": "shop"}}
        for name in NODES
    ]
    stands = {"state": "PENDING", "outcome": "pending", "node": NODES[0], "to": "PENDING"}
    told = [("node", {**one, "status": "active"}) for one in nodes]
    told += [("placement", {**stands, "deployment": one}) for one in deployments]
    events = [
        {"seq": seq, "at": "2026-01-01T00:00:00Z", "kind": kind, "data": data}
        for seq, (kind, data) in enumerate(told, 1)
    ]
    head = {"protocol": 1, "runner": "11111111-1111-4111-8111-111111111111", "epoch": 1}
    report = {**head, "first_seq": 1, "events": events}
    controller.post("/sites/harbor/reports", report, token)


def test_the_controllers_nodes_are_hosts(hand: Hand, controller: Served) -> None:
    """Sites are groups, nodes are hosts that a playbook reaches; a wrong token is called that."""
    _register(controller, hand)
    environment = {"MARGRAVE_URL": controller.url, "MARGRAVE_TOKEN": controller.token}

    listed = hand.run("ansible-inventory", "--graph", "--vars", **environment)
    told = hand.run(
        *("ansible-playbook", "playbooks/info.yml"),
        *("-e", json.dumps({"target": "harbor", **hand.login})),
        **environment,
    )
    refused = hand.run("ansible-inventory", "--graph", **{**environment, "MARGRAVE_TOKEN": "x"})

    assert "|--@harbor: | |--harbor-1.harbor" in listed.words, listed.out
    assert "{margrave_site = harbor}" in listed.words
    assert "@status_active" in listed.words
    assert "example" not in listed.out
    assert told.code == 0, told.out
    assert set(told.recap) == {"harbor-1.harbor", "harbor-2.harbor", "localhost"}
    assert "answered 401: the token is not valid" in refused.words


def test_the_link_works_without_the_collection(hand: Hand, controller: Served) -> None:
    """`plugins/inventory` alone is enough for who has no collections path."""
    _register(controller, hand)
    source = hand.base / "fleet.margrave.yml"
    source.write_text("plugin: fleet\n")
    settings = hand.base / "ansible.cfg"
    settings.write_text("")

    listed = hand.run(
        *("ansible-inventory", "-i", str(source), "--list"),
        ANSIBLE_CONFIG=str(settings),
        ANSIBLE_COLLECTIONS_PATH=str(hand.base),
        ANSIBLE_INVENTORY_PLUGINS="plugins/inventory",
        ANSIBLE_INVENTORY_ENABLED="fleet",
        MARGRAVE_URL=controller.url,
        MARGRAVE_TOKEN=controller.token,
    )

    hosts = set(json.loads(listed.out)["_meta"]["hostvars"])
    assert hosts == {"harbor-1.harbor", "harbor-2.harbor"}, listed.out


@pytest.mark.full
def test_what_was_done_by_hand_stands_in_the_history(hand: Hand, controller: Served) -> None:
    """Who ran which playbook, what came of it on which node; a wrong token is only a warning."""
    ident = str(uuid.uuid4())
    _register(controller, hand, ident)
    document = str(hand.document(ident, "1.0.0", "hello"))
    who = {**controller.environment, "MARGRAVE_USER": "grace"}

    would = hand.play("deploy", "--check", environment=who, document=document)
    done = hand.play("deploy", environment=who, document=document)
    again = hand.play("deploy", environment={**who, "MARGRAVE_TOKEN": "wrong"}, document=document)

    history = controller.get(f"/deployments/{ident}/history")["items"]
    by_hand = [one for one in history if one["actor"].startswith("hand:")]
    assert (would.code, done.code, again.code) == (0, 0, 0), done.out
    assert {one["node"] for one in by_hand} == set(NODES)
    assert {one["actor"] for one in by_hand} == {"hand:grace"}
    assert {one["reason"] for one in by_hand} == {
        "ansible-playbook deploy.yml: install succeeded",
    }
    assert "not reported: 401" in again.words


@pytest.mark.full
def test_a_support_bundle(hand: Hand) -> None:
    """It holds what was found and written down, of all nodes, and no value of a parameter."""
    ident = str(uuid.uuid4())
    secret = "not-for-others"
    hand.play("deploy", document=str(hand.document(ident, "1.0.0", secret)))

    done = hand.play("collect", into=str(hand.base / "bundle"))

    assert done.code == 0, done.out
    names, texts = _bundle(hand)
    for node in NODES:
        assert f"harbor/{node}/workloads.json" in names
        assert f"harbor/{node}/disk.txt" in names
        assert f"harbor/{node}/deployments/{ident}/journal.json" in names
    assert not [one for one in texts if secret.encode() in one]


@pytest.mark.full
def test_a_support_bundle_with_a_node_that_is_off(hand: Hand) -> None:
    """It says so, and has all of the other."""
    there, off = NODES
    hand.lab.fail(off, kill=True)
    try:
        done = hand.play("collect", into=str(hand.base / "bundle"))
    finally:
        hand.lab.heal(off)
    names, texts = _bundle(hand)
    assert f"harbor/{there}/disk.txt" in names, done.out
    assert f"harbor/{off}/disk.txt" not in names
    assert b"unreachable" in texts[names.index(f"harbor/{off}/node.json")], done.out


def _bundle(hand: Hand) -> tuple[list[str], list[bytes]]:
    """The names of its files, and what stands in them."""
    with tarfile.open(hand.base / "bundle/harbor.tar.gz") as archive:
        found = [one for one in archive.getmembers() if one.isfile()]
        files = [file for one in found if (file := archive.extractfile(one))]
        return [one.name for one in found], [file.read() for file in files]
