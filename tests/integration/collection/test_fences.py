"""A node answers one runner, its newest call, and repeats what it answered."""

from __future__ import annotations

import uuid

import pytest

from tests.support.shop import ENGINES, Shop, Step
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]


def test_calls_out_of_order(shop: Shop) -> None:
    """An equal call gets the recorded result; an older, a strange and a person's one conflict."""
    other = str(uuid.uuid4())
    results = shop.call(
        shop.install("1.0.0", **shop.fence(7)),
        shop.install("1.0.0", **shop.fence(7)),
        shop.update("1.1.0", **shop.fence(6)),
        shop.update("1.1.0", **shop.fence(8, runner=other)),
        shop.update("1.1.0"),
        shop.update("1.1.0", force=True),
        shop.update("1.0.0", check=True),
        shop.update("1.0.0", **shop.fence(1, epoch=2, runner=other)),
        shop.update("1.1.0", **shop.fence(99)),
    )

    codes = [(one.get("error") or {}).get("code", "") for one in results]
    assert codes == [
        "",
        "",
        "fence-passed",
        "other-runner",
        "claimed",
        "",
        "",
        "",
        "other-runner",
    ]
    for one in results:
        one.pop("ansible_facts", None)  # told by Ansible, once a play
    assert results[0] == results[1]
    assert results[5]["version"] == "1.1.0"
    assert shop.page()["version"] == "1.0.0"


def test_a_deleted_deployment_is_remembered(shop: Shop) -> None:
    """A late call cannot bring back what was deleted."""
    *_, late = shop.call(
        shop.install("1.0.0", **shop.fence(1)),
        shop.delete(**shop.fence(3)),
        shop.install("1.0.0", **shop.fence(2)),
    )
    left = shop.ssh("cd /var/lib/margrave; find . -type f | sort")

    assert late["error"]["code"] == "fence-passed"
    assert left.split() == ["./fence.json", f"./fences/{shop.deployment}"]


@pytest.mark.full
def test_a_newer_call_does_not_wait_for_a_lost_cause(shop: Shop) -> None:
    """While a broken release is waited for, the newest one takes over at the next safe point."""
    shop.one(shop.install("1.0.0", **shop.fence(1)))
    bad = Step("workload_update", {**shop.content("1.2.0", timeout=60), **shop.fence(2)})
    journal = f"/var/lib/margrave/deployments/{shop.deployment}/journal.json"

    losing = shop.begin(bad)
    eventually(
        lambda: '"phase": "switch"' in shop.ssh(f"cat {journal}"), 30, "the switch has begun"
    )
    winner = shop.one(shop.update("1.1.0", **shop.fence(3)))
    loser = losing.results()[0]

    assert (winner["state"], winner["version"]) == ("INSTALLED", "1.1.0")
    assert loser["error"]["code"] == "superseded"
    assert shop.page()["version"] == "1.1.0"
