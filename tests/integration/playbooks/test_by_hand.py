"""The playbooks do by hand what the runner does, and say what they did."""

from __future__ import annotations

import json
import urllib.request
import uuid

import pytest

from tests.support.hand import NODES, Hand, Played

pytestmark = pytest.mark.lab

BOTH = {"harbor-1": 1, "harbor-2": 1}
NONE = {"harbor-1": 0, "harbor-2": 0}
RUNNER = "11111111-1111-4111-8111-111111111111"


def _pages(hand: Hand) -> set[tuple[str, str]]:
    found = set()
    for name in NODES:
        url = f"http://{hand.lab.node(name).address}:8000/"
        with urllib.request.urlopen(url, timeout=5) as answer:
            page = json.load(answer)
        found.add((page["version"], page["greeting"]))
    return found


def _differs(would: Played, before: str | None, after: str) -> bool:
    """Tell whether the diff goes from one version to the other, or from nothing."""
    shows_before = (
        "-version:" not in would.out if before is None else f"-version: {before}" in would.out
    )
    return shows_before and f"+version: {after}" in would.out


def test_from_the_first_release_to_none(hand: Hand) -> None:
    """Deploy, update, a broken release, rollback, delete; check mode and diff say it before."""
    ident = str(uuid.uuid4())
    first = str(hand.document(ident, "1.0.0", "hello"))

    would = hand.play("deploy", "--check", "--diff", document=first)
    assert (would.changed, would.code) == (BOTH, 0), would.out
    assert _differs(would, None, "1.0.0")
    assert hand.lab.ssh("harbor-1", "ls /var/lib/margrave; podman ps -aq").stdout == ""

    assert hand.play("deploy", document=first).changed == BOTH
    again = hand.play("deploy", "--diff", document=first)
    assert again.changed == NONE
    assert f"shop 1.0.0, deployment {ident}: healthy" in again.words
    assert _pages(hand) == {("1.0.0", "hello")}

    second = str(hand.document(ident, "1.1.0", "good evening"))
    would = hand.play("update", "--check", "--diff", document=second)
    assert would.changed == BOTH
    assert _differs(would, "1.0.0", "1.1.0")
    assert _pages(hand) == {("1.0.0", "hello")}
    assert hand.play("update", document=second).changed == BOTH
    assert _pages(hand) == {("1.1.0", "good evening")}

    broken = hand.play("update", document=str(hand.document(ident, "1.2.0", "oh", "0m4s")))
    assert broken.code == 2
    assert broken.recap["harbor-1"] == (0, 1)
    assert "harbor-2" not in broken.recap  # one node first, and it failed
    # How far it came in four seconds is the machine's own affair.
    assert "1.1.0 runs again (look at" in broken.words
    assert _pages(hand) == {("1.1.0", "good evening")}

    would = hand.play("rollback", "--check", "--diff", deployment=ident)
    assert _differs(would, "1.1.0", "1.0.0")
    assert (would.changed, hand.play("rollback", deployment=ident).changed) == (BOTH, BOTH)
    assert hand.play("rollback", deployment=ident).changed == NONE
    assert _pages(hand) == {("1.0.0", "hello")}

    assert hand.play("delete", "--check", deployment=ident).changed == BOTH
    assert hand.play("delete", deployment=ident, volumes="remove").changed == BOTH
    assert hand.play("delete", deployment=ident).changed == NONE
    assert "workloads: []" in hand.play("info").words
    assert hand.lab.ssh("harbor-1", "find /var/lib/margrave -mindepth 1").stdout == ""


@pytest.mark.full
def test_a_claimed_node_is_its_runners(hand: Hand) -> None:
    """A person is told whose the node is; who insists is written into the journal."""
    fence = {"runner": RUNNER, "epoch": 1, "seq": 1}
    claim = json.dumps({"deployment": str(uuid.uuid4()), "fence": fence})
    module = ("-m", "margrave.edge.workload_delete", "-a", claim)
    claimed = hand.run("ansible", "-i", str(hand.inventory), "harbor-1", *module)
    package = "examples/apps/storefront/1.0.0"
    values = {"greeting": "by hand"}

    refused = hand.play("deploy", package=package, parameters=values)
    forced = hand.play("deploy", package=package, parameters=values, force=True)
    told = hand.play("info")

    assert claimed.code == 0, claimed.out
    assert (refused.recap["harbor-1"], refused.recap["harbor-2"]) == ((0, 1), (1, 0))
    assert f"this node belongs to runner {RUNNER} (epoch 1)" in refused.words
    assert "say force: true" in refused.words
    assert forced.changed == {"harbor-1": 1, "harbor-2": 0}, forced.out
    assert _pages(hand) == {("1.0.0", "by hand")}
    journal = hand.lab.ssh("harbor-1", "cat /var/lib/margrave/deployments/*/journal.json").stdout
    assert json.loads(journal)["force"] is True
    assert told.out.count("health: healthy") == len(NODES)


def test_what_is_missing_is_told_before_anything_is_done(hand: Hand) -> None:
    """No target, no such group, no document, no deployment: each in a sentence, all at once."""
    nothing = hand.run("ansible-playbook", "playbooks/deploy.yml")
    unknown = hand.play("update", target="port", document="nowhere.yaml")
    nameless = hand.play("delete")

    assert {one.code for one in (nothing, unknown, nameless)} == {2}
    assert "target: is missing (name a host or a group); document: give a document" in nothing.words
    assert "port: is no host or group of the inventory" in unknown.words
    assert "nowhere.yaml: is not there" in unknown.words
    assert "deployment: is missing (playbooks/info.yml tells the ids)" in nameless.words
    assert all(set(one.recap) == {"localhost"} for one in (nothing, unknown, nameless))
