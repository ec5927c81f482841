"""A module killed at any step leaves a state that the next call finishes."""

from __future__ import annotations

import pytest

from tests.support.shop import ENGINES, Shop, Step

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]


def test_an_update_killed_is_finished_by_the_same_call(shop: Shop) -> None:
    """The same call asked again ends as if nothing had happened, and nothing is doubled."""
    update = shop.update("1.1.0", **shop.fence(2))
    shop.one(shop.install("1.0.0", **shop.fence(1)))

    shop.kill_at("switch", update)
    journal, finished = shop.call(Step("workload_info", {"deployment": shop.deployment}), update)

    assert journal["workloads"][0]["journal"]["phase"] == "switch"
    assert (finished["state"], finished["version"]) == ("INSTALLED", "1.1.0")
    assert shop.page()["version"] == "1.1.0"
    assert len(shop.ssh(f"{shop.engine} ps -aq --filter label=margrave.deployment").split()) == 2
    assert shop.ssh("ls /run/margrave") == ""


@pytest.mark.full
def test_going_back_killed_is_finished_by_the_same_call(shop: Shop) -> None:
    """The verdict over a bad release stands: it is not tried again, the old one runs."""
    bad = Step("workload_update", {**shop.content("1.2.0", timeout=4), **shop.fence(2)})
    shop.one(shop.install("1.1.0", **shop.fence(1)))

    shop.kill_at("goback", bad)
    finished = shop.one(bad)

    assert (finished["state"], finished["rolled_back"]) == ("FAILED", True)
    assert finished["error"]["class"] == "health"
    assert finished["version"] == "1.1.0"
    assert shop.page()["version"] == "1.1.0"


@pytest.mark.full
def test_a_killed_update_can_be_undone(shop: Shop) -> None:
    """A newer call that wants the old release gets it, whatever was half done."""
    shop.one(shop.install("1.0.0", **shop.fence(1)))

    shop.kill_at("switch", shop.update("1.1.0", **shop.fence(2)))
    undone = shop.one(shop.update("1.0.0", **shop.fence(3)))

    assert (undone["state"], undone["version"]) == ("INSTALLED", "1.0.0")
    assert shop.page()["version"] == "1.0.0"


@pytest.mark.full
def test_a_deletion_killed_is_finished(shop: Shop) -> None:
    """Half of a deployment is deleted like a whole one."""
    shop.one(shop.install("1.0.0", **shop.fence(1)))

    shop.kill_at("delete", shop.delete(**shop.fence(2)))
    gone = shop.one(shop.delete(**shop.fence(2)))

    assert (gone["state"], gone["deleted"]) == ("DELETED", True)
    assert shop.ssh(f"{shop.engine} ps -aq --filter label=margrave.deployment") == ""
    assert shop.ssh("ls /var/lib/margrave").split() == ["fence.json", "fences"]
