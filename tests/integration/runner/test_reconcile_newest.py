"""The newest revision wins over calls that are at work, on real Git with pretended nodes."""

from __future__ import annotations

import threading

from margrave.lifecycle import Kind, Outcome, State
from runner.ports import Call
from runner.store import OperationState, operations, placements
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

NODE = "harbor-1"


def begin(world: World, version: str) -> None:
    """Push a version whose call on the first node never answers: it is at work for ever."""
    world.executor.lost = {Kind.INSTALL, Kind.UPDATE}
    world.repository.deploy(version)
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    running = world.executor.nodes[NODE].running
    eventually(lambda: running.get(STOREFRONT, {}).get("version") == version)
    assert world.placements()[NODE].state in (State.INSTALLING, State.UPDATING)
    world.executor.lost = set()


def fix(world: World, version: str = "1.3.0") -> None:
    """Push the version that mends it, and let the site work."""
    world.repository.deploy(version)
    world.repository.push()
    world.settle()


def ended(world: World) -> list[tuple[Kind, OperationState]]:
    """Kind and end of every operation on the first node, the oldest first."""
    with world.runner.ground.store.read() as tx:
        found = [one for one in operations.latest(tx, 99) if one.node == NODE]
    return [(one.kind, one.state) for one in reversed(found)]


def moves(world: World) -> list[tuple[str | None, str]]:
    """The transitions of the first node that were reported."""
    return [(frm, to) for node, frm, to in world.told() if node == NODE]


def is_well(world: World, version: str) -> None:
    """It runs everywhere, and what was overtaken left no trace in the site's judgement."""
    assert set(world.versions().values()) == {version}
    found = world.placements().values()
    assert {(one.state, one.outcome) for one in found} == {(State.INSTALLED, Outcome.SUCCEEDED)}
    assert not any(one.cancelled or one.error for one in found)
    with world.runner.ground.store.read() as tx:
        assert not placements.quarantined(tx)
        assert not operations.unfinished(tx)


def test_an_update_at_work_gives_way(world: World) -> None:
    """By a call with a higher number, which asks the node to stop the one before it."""
    fix(world, "1.0.0")
    begin(world, "1.1.0")
    fix(world)
    is_well(world, "1.3.0")
    assert ended(world)[1:] == [
        (Kind.UPDATE, OperationState.CANCELLED),
        (Kind.UPDATE, OperationState.SUCCEEDED),
    ]
    assert moves(world)[-4:] == [
        ("INSTALLED", "UPDATING"),
        ("UPDATING", "FAILED"),
        ("FAILED", "UPDATING"),
        ("UPDATING", "INSTALLED"),
    ]
    first, second = [one for one in world.executor.calls if one.node.name == NODE][1:]
    assert second.arguments["fence"]["seq"] > first.arguments["fence"]["seq"]


def test_an_install_with_nothing_to_go_back_to_gives_way(world: World) -> None:
    """It is installed anew, as a release of its own."""
    begin(world, "1.1.0")
    fix(world)
    is_well(world, "1.3.0")
    assert moves(world) == [
        (None, "PENDING"),
        ("PENDING", "INSTALLING"),
        ("INSTALLING", "FAILED"),
        ("FAILED", "INSTALLING"),
        ("INSTALLING", "INSTALLED"),
    ]


def test_a_retry_at_work_gives_way(world: World) -> None:
    """The attempts of the one before do not count for the newer one."""
    fix(world, "1.0.0")
    world.executor.broken_versions.add("1.1.0")
    fix(world, "1.1.0")
    assert world.placements()[NODE].state is State.FAILED
    world.executor.broken_versions.clear()
    world.hurry()
    begin(world, "1.1.0")
    assert world.placements()[NODE].attempt == 2
    fix(world)
    is_well(world, "1.3.0")
    assert world.placements()[NODE].attempt == 1


def test_what_is_removed_while_it_is_updated_is_taken_off(world: World) -> None:
    """Straight from UPDATING to DELETING."""
    fix(world, "1.0.0")
    begin(world, "1.1.0")
    world.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    world.repository.push()
    world.settle()
    assert moves(world)[-2:] == [("UPDATING", "DELETING"), ("DELETING", "DELETED")]
    assert ended(world)[-2:] == [
        (Kind.UPDATE, OperationState.CANCELLED),
        (Kind.DELETE, OperationState.SUCCEEDED),
    ]
    assert set(world.versions().values()) == {None}


def test_the_late_answer_of_what_gave_way_changes_nothing(world: World) -> None:
    """Its call has ended for the runner, whatever it came to on the node."""
    fix(world, "1.0.0")
    at_work, may_end, over = threading.Event(), threading.Event(), threading.Event()

    def hold(call: Call) -> None:
        if call.arguments.get("version") == "1.1.0" and not at_work.is_set():
            at_work.set()
            assert may_end.wait(60)
            over.set()

    world.executor.before_answer = hold
    world.repository.deploy("1.1.0")
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    assert at_work.wait(60)
    fix(world)
    may_end.set()
    assert over.wait(60)
    world.settle()
    is_well(world, "1.3.0")
    assert len([one for one in world.executor.calls if one.node.name == NODE]) == 3


def test_each_of_several_fixes_gives_way_to_the_next(world: World) -> None:
    """Nobody waits for what was wanted between two pushes."""
    fix(world, "1.0.0")
    for version in ("1.1.0", "1.1.1", "1.1.2"):
        begin(world, version)
    fix(world)
    is_well(world, "1.3.0")
