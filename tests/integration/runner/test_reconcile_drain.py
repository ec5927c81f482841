"""A drain on real Git and a real database, with nodes that are only pretended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from margrave.lifecycle import Outcome, State
from runner.store import placements
from tests.support.repository import STOREFRONT
from tests.support.site import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where one of two nodes has the storefront, with its volume."""
    made = World(tmp_path)
    made.executor.volumes = {STOREFRONT}
    made.repository.deploy("1.0.0", placement={"nodes": 1})
    made.repository.push()
    made.settle()
    assert made.versions() == {"harbor-1": "1.0.0", "harbor-2": None}
    yield made
    made.runner.close()


def drain(world: World, wanted: bool) -> None:
    """Say in Git whether harbor-1 is drained, and let the site do what follows, several times."""
    world.repository.write(
        "sites/harbor.yaml", f"nodes: {{harbor-1: {{drain: {wanted}}}}}\n".lower()
    )
    world.repository.push()
    for _ in range(3):
        world.settle()


def test_what_has_a_volume_is_stopped_and_comes_back_to_it(world: World) -> None:
    """Never on the other node, not even long after; the volume is what it comes back for."""
    drain(world, wanted=True)
    assert world.versions() == {"harbor-1": None, "harbor-2": None}
    [one] = world.placements().values()
    assert (one.state, one.keeps_data, one.reason) == (State.DELETED, True, "deleted")
    drain(world, wanted=False)
    assert world.versions() == {"harbor-1": "1.0.0", "harbor-2": None}
    [back] = world.placements().values()
    assert (back.incarnation, back.outcome, back.keeps_data) == (2, Outcome.SUCCEEDED, True)


def test_a_volume_that_nobody_has_seen_yet_is_not_left_behind(world: World) -> None:
    """Drained before the first look at what was installed: its delete tells that there is one."""
    world.executor.observe, look = lambda *_: {}, world.executor.observe  # type: ignore[method-assign]
    world.repository.deploy("1.1.0", placement={"nodes": 1})
    world.repository.push()
    world.settle()
    store = world.runner.ground.store
    with store.write() as tx:
        placements.write(tx, replace(placements.get(tx, STOREFRONT, "harbor-1"), keeps_data=False))
    drain(world, wanted=True)
    assert world.versions() == {"harbor-1": None, "harbor-2": None}
    assert world.placements()["harbor-1"].keeps_data
    world.executor.observe = look  # type: ignore[method-assign]


def test_what_has_none_moves(world: World) -> None:
    """Its share goes to the node that is left, and stays there when the drain ends."""
    world.executor.volumes = set()
    world.settle()
    drain(world, wanted=True)
    drain(world, wanted=False)
    assert world.versions() == {"harbor-1": None, "harbor-2": "1.0.0"}


def test_a_forgotten_nodes_data_binds_nobody(world: World) -> None:
    """It burned down: its name may come again, its volumes do not."""
    drain(world, wanted=True)
    desk = world.runner.admin.test_client()
    kept = world.runner.ground.nodes.get("harbor-1")
    assert desk.delete("/nodes/harbor-1").status_code == 204
    world.settle()
    assert world.versions()["harbor-2"] == "1.0.0"
    world.runner.ground.nodes.save(kept)
    assert not world.placements()["harbor-1"].keeps_data
