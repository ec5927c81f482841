"""A node that an earlier version set up: the modules of this version take it over as it is.

Each test begins where the one before it ended.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from tests.support import fixture_sets
from tests.support.restored_node import RestoredNode, comparable
from tests.support.shop import Step

pytestmark = pytest.mark.lab

NAMES = ("ledger", "storefront")


def test_the_restored_node_is_the_one_that_was_kept(node: RestoredNode) -> None:
    """Containers have the names, images, labels and mounts of the old version's, to the letter."""
    assert node.containers() == comparable(node.about["containers"])
    assert node.missing_sources() == []


def test_what_runs_is_known_and_healthy(node: RestoredNode) -> None:
    """Releases, versions and volumes are returned as before: healthy, and without drift."""
    workloads = node.workloads()

    assert {workload["name"] for workload in workloads} == set(NAMES)
    for before, after in zip(node.about["workloads"], workloads, strict=True):
        assert {key: after[key] for key in before} == before


def test_the_same_release_changes_nothing(node: RestoredNode) -> None:
    """The call that the old runner made last is done already: no container is touched."""
    before = node.lives()
    calls = [
        Step("workload_update", node.last_call(name), check)
        for name in NAMES
        for check in (True, False)
    ]

    answers = node.shop.call(*calls)

    for answer in answers:
        assert answer.get("error") is None, answer
        assert (answer["changed"], answer["state"], answer["health"]) == (
            False,
            "INSTALLED",
            "healthy",
        ), answer
    assert node.lives() == before


def test_the_first_update_and_its_rollback(node: RestoredNode) -> None:
    """A new release replaces only what changed, and the old one comes back."""
    before = node.lives()
    call = node.last_call("storefront")
    old = call["release"]

    updated = node.shop.one(Step("workload_update", _greeting(call, "upgraded")))
    assert (updated["state"], updated["changed"]) == ("INSTALLED", True), updated
    assert _changed(before, node.lives()) == {"web"}
    back = {"deployment": call["deployment"], **node.fence()}
    rolled_back = node.shop.one(Step("workload_rollback", back))

    assert (rolled_back["state"], rolled_back["release"]) == ("INSTALLED", old), rolled_back
    assert _changed(before, node.lives()) == {"web"}
    _assert_sound(node)


@pytest.mark.full
def test_an_unchanged_service_keeps_its_files_and_then_its_container(node: RestoredNode) -> None:
    """The clerk's files move once, with the first update, to where later updates leave them."""
    call = node.last_call("ledger")
    (component,) = call["components"]
    lives = [node.lives()]
    for title in ("Upgraded", "Upgraded twice"):
        renamed = {**component, "variables": {**component["variables"], "TITLE": title}}
        new = {**call, **node.fence(), "components": [renamed], **_identity(title)}
        updated = node.shop.one(Step("workload_update", new))
        assert (updated["state"], updated["changed"]) == ("INSTALLED", True), updated
        assert _rules(node) == {"retention = 10 years"}
        _assert_sound(node)
        lives.append(node.lives())

    assert _changed(lives[0], lives[1]) == {"book", "clerk"}
    assert _changed(lives[1], lives[2]) == {"book"}


@pytest.mark.full
def test_the_first_update_of_an_application_with_files(node: RestoredNode) -> None:
    """Every container gets the files of the new release, and after a rollback those of the old."""
    call = node.last_call("ledger")
    old = {workload["name"]: workload["version"] for workload in node.workloads()}["ledger"]
    (component,) = call["components"]
    folder = fixture_sets.PACKAGES / "ledger/1.2.0/compose"
    component = {**component, "src": str(folder), "digest": None}
    new = {**call, "version": "1.2.0", "components": [component], **_identity("ledger 1.2.0")}

    updated = node.shop.one(Step("workload_update", new))
    assert updated["state"] == "INSTALLED", updated
    assert _rules(node) == {"retention = 7 years"}
    _assert_sound(node)
    back = {"deployment": call["deployment"], **node.fence()}
    rolled_back = node.shop.one(Step("workload_rollback", back))

    assert (rolled_back["state"], rolled_back["version"]) == ("INSTALLED", old), rolled_back
    assert _rules(node) == {"retention = 10 years"}
    _assert_sound(node)


def _greeting(call: dict[str, Any], greeting: str) -> dict[str, Any]:
    (component,) = call["components"]
    component = {**component, "variables": {"GREETING": greeting}}
    return {**call, "components": [component], **_identity(greeting)}


def _identity(text: str) -> dict[str, str]:
    """Return a revision and a release that nothing had so far."""
    release = sha256(text.encode()).hexdigest()
    return {"revision": f"sha256:{release}", "release": release}


def _changed(before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]) -> set[str]:
    """Return the services whose containers are others now, or were started again."""
    assert before.keys() == after.keys()
    return {name.split("-")[-2] for name in after if after[name] != before[name]}


def _rules(node: RestoredNode) -> set[str]:
    """Return the rules that the ledger's containers see."""
    rules = {
        name: node.read(name, f"/etc/{kind}/rules.conf").strip()
        for name in node.lives()
        for service, kind in (("book", "ledger"), ("clerk", "clerk"))
        if f"-{service}-" in name
    }
    assert len(rules) == 2, rules
    return set(rules.values())


def _assert_sound(node: RestoredNode) -> None:
    """Everything is healthy without drift, and every mount has its source."""
    assert node.missing_sources() == []
    health = sorted(
        (workload["name"], workload["health"], workload["drift"]) for workload in node.workloads()
    )
    assert health == [(name, "healthy", []) for name in NAMES]
