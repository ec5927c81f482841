"""Commands of an operator, carried out once, on a site with pretended nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from margrave.lifecycle import Kind, Outcome, State
from runner.ports import Observation, Target
from runner.reconcile.commands import Commands
from runner.store import Placement, outbox, placements, transitions
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

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


@pytest.fixture
def commands(world: World) -> Commands:
    """The commands of that site."""
    work, ground = world.runner.work, world.runner.ground
    return Commands(
        ground.store,
        world.executor,
        work.look_at,
        lambda: None,
        work.wanted_release,
    )


def acknowledged(world: World) -> list[tuple[str, str]]:
    """(id, result) of each acknowledgement told."""
    with world.runner.ground.store.read() as tx:
        rows = outbox.waiting(tx, 10_000)
    return [(one.data["id"], one.data["result"]) for one in rows if one.kind == "command"]


def break_release(world: World, version: str) -> None:
    """Push a release that never gets healthy, and let it run its course."""
    world.executor.broken_versions.add(version)
    world.repository.deploy(version)
    world.repository.push()
    for _ in range(3):
        world.settle()
        world.hurry()
    world.settle()


def test_retry_tries_a_rolled_back_revision_again(world: World, commands: Commands) -> None:
    """What went back is tried again when an operator says so, and on every node."""
    break_release(world, "1.2.0")
    world.executor.broken_versions.clear()
    commands.handle({"id": "c1", "kind": "retry", "deployment": STOREFRONT})
    world.settle()
    assert set(world.versions().values()) == {"1.2.0"}
    assert {one.outcome for one in world.placements().values()} == {Outcome.SUCCEEDED}


def test_a_command_is_carried_out_once_and_acknowledged_each_time(
    world: World, commands: Commands
) -> None:
    """Commands come with every heartbeat until their acknowledgement has arrived."""
    break_release(world, "1.2.0")
    for _ in range(2):
        commands.handle({"id": "c1", "kind": "release", "deployment": STOREFRONT})
        world.settle()
    assert acknowledged(world) == [("c1", "done"), ("c1", "done")]


def test_an_unknown_command_is_refused_with_a_word(world: World, commands: Commands) -> None:
    """A newer controller may know more: it hears so."""
    commands.handle({"id": "c9", "kind": "dance"})
    commands.handle({"id": "c8", "kind": "retry", "deployment": "nobody"})
    assert acknowledged(world) == [("c9", "refused"), ("c8", "refused")]


def test_cancelling_a_call_that_waits_goes_back_and_holds(world: World, commands: Commands) -> None:
    """Cancelled is not failed: gone back, held, not quarantined."""
    world.executor.nodes["harbor-1"].away = True
    world.repository.deploy("1.1.0")
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    eventually(lambda: world.placements()["harbor-1"].waiting)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    world.executor.nodes["harbor-1"].away = False
    world.settle()
    one = world.placements()["harbor-1"]
    assert (one.state, one.outcome, one.version) == (State.INSTALLED, Outcome.HELD, "1.0.0")
    last = world.executor.calls[-1]
    assert (last.kind, last.apart) == (Kind.ROLLBACK, True)
    world.settle()
    assert set(world.versions().values()) == {"1.0.0"}
    commands.handle({"id": "c2", "kind": "retry", "deployment": STOREFRONT})
    world.settle()
    assert set(world.versions().values()) == {"1.1.0"}


def test_a_cancelled_install_is_taken_off_again(world: World, commands: Commands) -> None:
    """Where nothing ran before nothing runs afterwards: by a call of its own, newer than the one
    that it stops, and whatever Git wants meanwhile."""
    world.repository.deploy("1.0.0", name="second", identifier=OTHER, number=5)
    world.executor.lost = {Kind.INSTALL}
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    eventually(lambda: OTHER in world.executor.nodes["harbor-1"].running)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": OTHER})
    world.settle()
    install, delete = [one for one in world.executor.calls if one.arguments["deployment"] == OTHER]
    assert (install.kind, delete.kind) == (Kind.INSTALL, Kind.DELETE)
    assert delete.operation == install.operation
    assert (install.apart, delete.apart) == (False, True)
    assert delete.arguments["fence"]["seq"] > install.arguments["fence"]["seq"]
    assert OTHER not in world.executor.nodes["harbor-1"].running
    with world.runner.ground.store.read() as tx:
        one = placements.find(tx, OTHER, "harbor-1")
    assert one is not None
    assert (one.state, one.reason, one.outcome) == (State.FAILED, "cancelled", Outcome.HELD)
    assert one.release is None and one.error is None
    world.executor.lost = set()
    commands.handle({"id": "c2", "kind": "retry", "deployment": OTHER})
    world.settle()
    assert OTHER in world.executor.nodes["harbor-1"].running


def away_in_the_middle_of_an_install(world: World) -> None:
    """A second deployment is being installed on harbor-1, which falls silent meanwhile."""
    world.executor.before_answer = lambda call: setattr(
        world.executor.nodes[call.node.name], "away", True
    )
    world.executor.lost = {Kind.INSTALL}
    world.repository.deploy(
        "1.0.0", name="second", identifier=OTHER, number=5, placement={"nodes": ["harbor-1"]}
    )
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    eventually(lambda: OTHER in world.executor.nodes["harbor-1"].running)
    world.executor.before_answer = lambda call: None
    world.executor.lost = set()


def second(world: World) -> Placement:
    """The placement of the second deployment."""
    with world.runner.ground.store.read() as tx:
        return placements.get(tx, OTHER, "harbor-1")


@pytest.mark.parametrize("waits", [True, False], ids=["it waits", "it is at work"])
@pytest.mark.parametrize("restarts", [True, False], ids=["restarted", "not restarted"])
def test_a_cancelled_install_is_taken_off_when_its_node_is_back(
    world: World, commands: Commands, *, waits: bool, restarts: bool
) -> None:
    """However long the node is away, and whatever happens to the runner meanwhile: what had begun
    there does not stay."""
    away_in_the_middle_of_an_install(world)
    if waits:
        world.executor.cancel(second(world).operation or "")
        eventually(lambda: second(world).waiting)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": OTHER})
    if restarts:
        world.restart()
    world.settle()
    one = second(world)
    assert (one.state, one.reason, one.cancelled) == (State.INSTALLING, "cancelled", True)
    assert one.waiting and one.waiting["for"] == "node"
    world.executor.nodes["harbor-1"].away = False
    world.hurry()
    world.settle()
    assert OTHER not in world.executor.nodes["harbor-1"].running
    one = second(world)
    assert (one.state, one.reason, one.outcome) == (State.FAILED, "cancelled", Outcome.HELD)


def test_a_cancel_that_its_runner_did_not_survive_is_carried_out(
    world: World, commands: Commands
) -> None:
    """Between the operator's word and the end of the call the process was killed."""
    away_in_the_middle_of_an_install(world)
    store = world.runner.ground.store
    with store.write() as tx:
        transitions.note(tx, second(world), cancelled=True, reason="cancelled")
    world.executor.nodes["harbor-1"].away = False
    world.restart()
    world.settle()
    assert OTHER not in world.executor.nodes["harbor-1"].running
    assert second(world).outcome is Outcome.HELD


def test_a_retry_tells_what_is_still_at_work(world: World, commands: Commands) -> None:
    """What is on its way is not begun anew, and nobody is told so."""
    away_in_the_middle_of_an_install(world)
    commands.handle({"id": "c1", "kind": "retry", "deployment": OTHER})
    with world.runner.ground.store.read() as tx:
        [told] = [one.data for one in outbox.waiting(tx, 10_000) if one.kind == "command"]
    assert told["detail"] == "tried again on no node; still at work on harbor-1"
    world.executor.cancel(second(world).operation or "")


def detail(world: World, command: str) -> str:
    """What was answered to a command."""
    with world.runner.ground.store.read() as tx:
        told = {
            one.data["id"]: one.data for one in outbox.waiting(tx, 10_000) if one.kind == "command"
        }
    return str(told[command]["detail"])


def test_a_cancelled_heal_is_not_begun_again(world: World, commands: Commands) -> None:
    """It waits for a person, who may have it tried again."""
    world.executor.lost = {Kind.UPDATE}
    world.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    world.runner.work.observer.look()
    world.runner.work.reconciler.tick()
    eventually(lambda: world.executor._waited_for)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    world.executor.lost = set()
    calls = len(world.executor.calls)
    for _ in range(2):
        world.hurry()
        world.settle()
    one = world.placements()["harbor-2"]
    assert (one.state, one.waiting and one.waiting["for"]) == (State.FAILED, "person")
    assert len(world.executor.calls) == calls
    assert detail(world, "c1") == "cancelled on harbor-2; nothing to cancel on harbor-1"
    commands.handle({"id": "c2", "kind": "retry", "deployment": STOREFRONT})
    world.settle()
    one = world.placements()["harbor-2"]
    assert (one.state, one.outcome, one.drift) == (State.INSTALLED, Outcome.SUCCEEDED, [])


@pytest.mark.parametrize("answers", [True, False], ids=["failed before", "at work"])
def test_a_delete_is_not_cancelled_and_nobody_is_told_so(
    world: World, commands: Commands, *, answers: bool
) -> None:
    """There is nothing to go back to: it is finished, and the answer says so."""
    world.executor.error_of_delete = {
        "class": "engine", "code": "busy", "message": "try later", "cure": "",
    }  # fmt: skip
    world.executor.lost = set() if answers else {Kind.DELETE}
    world.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    state = State.FAILED if answers else State.DELETING
    eventually(lambda: {one.state for one in world.placements().values()} == {state})
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    words = "still being deleted" if answers else "still at work"
    assert detail(world, "c1") == f"cancelled on no node; {words} on harbor-1, harbor-2"
    assert {one.outcome for one in world.placements().values()} <= {Outcome.PENDING, Outcome.FAILED}
    assert not any(one.cancelled for one in world.placements().values())


def test_a_forgotten_node_takes_its_placements_along(world: World, commands: Commands) -> None:
    """A node that burned down is no reason to wait for ever."""
    world.executor.nodes["harbor-2"].away = True
    commands.handle({"id": "c1", "kind": "forget", "node": "harbor-2"})
    world.settle()
    assert world.placements()["harbor-2"].state is State.DELETED
    assert [one.name for one in world.runner.ground.nodes.list()] == ["harbor-1"]


def test_reload_asks_the_nodes_what_they_can_do_and_waits_for_none(
    world: World, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is acknowledged at once, and ticks go on, however long the nodes take to answer."""
    nodes, inspect = world.runner.ground.nodes, world.executor.inspect
    asked, may_answer = threading.Event(), threading.Event()

    def slow(some: Sequence[Target]) -> dict[str, Observation]:
        asked.set()
        may_answer.wait(30)
        return inspect(some)

    monkeypatch.setattr(world.executor, "inspect", slow)
    for node in nodes.list():
        nodes.save(replace(node, capabilities={}))
    run, stop = world.runner.threads()["inspect"]
    thread = threading.Thread(target=run)
    thread.start()
    try:
        commands.handle({"id": "c1", "kind": "reload"})
        assert acknowledged(world) == [("c1", "done")]
        assert asked.wait(10)
        world.runner.work.reconciler.tick()
        may_answer.set()
        eventually(lambda: all(node.capabilities.get("cpus") == 4 for node in nodes.list()))
    finally:
        may_answer.set()
        stop()
        thread.join(10)
