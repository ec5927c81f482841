"""Under which id the nodes are called, on a site with pretended ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from margrave.lifecycle import Kind
from runner.reconcile.commands import Commands
from runner.store import outbox
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

NODE = "harbor-1"
OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where 1.0.0 runs."""
    made = World(tmp_path)
    made.repository.deploy("1.0.0")
    made.repository.push()
    made.settle()
    yield made
    made.runner.close()


def command(world: World, kind: str, trace: str, deployment: str = STOREFRONT) -> None:
    """As it comes with a heartbeat's answer."""
    work, ground = world.runner.work, world.runner.ground
    asked = work.operations.traces.asked
    commands = Commands(
        ground.store, world.executor, work.look_at, lambda: None, work.wanted_release, asked
    )
    commands.handle({"id": trace, "kind": kind, "deployment": deployment, "trace": trace})


def done_for(world: World, deployment: str = STOREFRONT) -> list[tuple[Kind, Any]]:
    """What the node was called for, and under which id."""
    calls = [one for one in world.executor.calls if one.node.name == NODE]
    ours = [one for one in calls if one.arguments["deployment"] == deployment]
    return [(one.kind, one.arguments.get("trace")) for one in ours]


def take_up(world: World) -> str:
    """Push, and begin what that asks for; the commit as it is told."""
    commit = world.repository.push()[:12]
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    return commit


def run_its_course(world: World) -> None:
    """Attempts, and going back."""
    for _ in range(3):
        world.settle()
        world.hurry()


def test_all_that_follows_from_a_change_or_a_command_has_its_id(world: World) -> None:
    """Each attempt and the way back, after a restart too; and what is reported of them."""
    world.executor.broken_versions.add("1.2.0")
    world.repository.deploy("1.2.0")
    pushed = world.repository.push()[:12]
    world.runner.work.watch.look(hinted=True)
    world.restart()
    run_its_course(world)
    before = done_for(world)
    assert set(before[1:]) == {(Kind.UPDATE, pushed), (Kind.ROLLBACK, pushed)}

    command(world, "retry", "ticket-7")
    run_its_course(world)
    after = done_for(world)[len(before) :]
    assert set(after) == {(Kind.UPDATE, "ticket-7"), (Kind.ROLLBACK, "ticket-7")}
    with world.runner.ground.store.read() as tx:
        told = [one.data for one in outbox.waiting(tx, 10_000) if one.kind == "operation"]
    assert {one["trace"] for one in told} == {None, pushed, "ticket-7"}


def test_who_cancels_an_update_asks_for_the_way_back(world: World) -> None:
    """What was cancelled stays under the id of who asked for it."""
    world.executor.nodes[NODE].away = True
    world.repository.deploy("1.1.0")
    pushed = take_up(world)
    eventually(lambda: world.placements()[NODE].waiting)
    command(world, "cancel", "ticket-7")
    world.executor.nodes[NODE].away = False
    world.settle()
    assert done_for(world)[1:] == [(Kind.UPDATE, pushed), (Kind.ROLLBACK, "ticket-7")]


def test_a_cancelled_install_is_taken_off_under_its_own_id(world: World) -> None:
    """It is the same operation, which only goes on with another call."""
    world.repository.deploy("1.0.0", name="second", identifier=OTHER, number=5)
    world.executor.lost = {Kind.INSTALL}
    pushed = take_up(world)
    eventually(lambda: OTHER in world.executor.nodes[NODE].running)
    command(world, "cancel", "ticket-7", OTHER)
    world.settle()
    assert done_for(world, OTHER) == [(Kind.INSTALL, pushed), (Kind.DELETE, pushed)]


def test_what_is_fetched_ahead_is_fetched_for_who_asked(world: World) -> None:
    """A window is closed; the node has the id long before it opens."""
    never = [{"cron": "0 0 1 1 *", "duration": "1m"}]
    world.repository.deploy("1.1.0", windows=never)
    pushed = take_up(world)
    eventually(lambda: len(done_for(world)) == 2)
    assert world.executor.calls[-1].ahead
    assert done_for(world)[-1] == (Kind.UPDATE, pushed)
