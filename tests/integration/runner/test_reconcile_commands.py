"""What an operator cancels is stopped and held; what cannot be is told. Nodes are pretended."""

from __future__ import annotations

import pytest

from margrave.lifecycle import Kind, Outcome, State
from runner.reconcile.commands import Commands
from runner.store import Placement, outbox, placements, transitions
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


def test_cancelling_a_call_that_waits_goes_back_and_holds(
    running: World, commands: Commands
) -> None:
    """Cancelled is not failed: gone back, held, not quarantined."""
    running.executor.nodes["harbor-1"].away = True
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    running.executor.nodes["harbor-1"].away = False
    running.settle()
    one = running.placements()["harbor-1"]
    assert (one.state, one.outcome, one.version) == (State.INSTALLED, Outcome.HELD, "1.0.0")
    last = running.executor.calls[-1]
    assert (last.kind, last.apart) == (Kind.ROLLBACK, True)
    running.settle()
    assert set(running.versions().values()) == {"1.0.0"}
    commands.handle({"id": "c2", "kind": "retry", "deployment": STOREFRONT})
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_cancelled_install_is_taken_off_again(running: World, commands: Commands) -> None:
    """Where nothing ran before nothing runs afterwards: by a call of its own, newer than the one
    that it stops, and whatever Git wants meanwhile."""
    running.repository.deploy("1.0.0", name="second", identifier=OTHER, number=5)
    running.executor.lost = {Kind.INSTALL}
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: OTHER in running.executor.nodes["harbor-1"].running)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": OTHER})
    running.settle()
    install, delete = [
        one for one in running.executor.calls if one.arguments["deployment"] == OTHER
    ]
    assert (install.kind, delete.kind) == (Kind.INSTALL, Kind.DELETE)
    assert delete.operation == install.operation
    assert (install.apart, delete.apart) == (False, True)
    assert delete.arguments["fence"]["seq"] > install.arguments["fence"]["seq"]
    assert OTHER not in running.executor.nodes["harbor-1"].running
    with running.runner.ground.store.read() as tx:
        one = placements.find(tx, OTHER, "harbor-1")
    assert one is not None
    assert (one.state, one.reason, one.outcome) == (State.FAILED, "cancelled", Outcome.HELD)
    assert one.release is None and one.error is None
    running.executor.lost = set()
    commands.handle({"id": "c2", "kind": "retry", "deployment": OTHER})
    running.settle()
    assert OTHER in running.executor.nodes["harbor-1"].running


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
    running: World, commands: Commands, *, waits: bool, restarts: bool
) -> None:
    """However long the node is away, and whatever happens to the runner meanwhile: what had begun
    there does not stay."""
    away_in_the_middle_of_an_install(running)
    if waits:
        running.executor.cancel(second(running).operation or "")
        eventually(lambda: second(running).waiting)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": OTHER})
    if restarts:
        running.restart()
    running.settle()
    one = second(running)
    assert (one.state, one.reason, one.cancelled) == (State.INSTALLING, "cancelled", True)
    assert one.waiting and one.waiting["for"] == "node"
    running.executor.nodes["harbor-1"].away = False
    running.hurry()
    running.settle()
    assert OTHER not in running.executor.nodes["harbor-1"].running
    one = second(running)
    assert (one.state, one.reason, one.outcome) == (State.FAILED, "cancelled", Outcome.HELD)


def test_a_cancel_that_its_runner_did_not_survive_is_carried_out(
    running: World, commands: Commands
) -> None:
    """Between the operator's word and the end of the call the process was killed."""
    away_in_the_middle_of_an_install(running)
    store = running.runner.ground.store
    with store.write() as tx:
        transitions.note(tx, second(running), cancelled=True, reason="cancelled")
    running.executor.nodes["harbor-1"].away = False
    running.restart()
    running.settle()
    assert OTHER not in running.executor.nodes["harbor-1"].running
    assert second(running).outcome is Outcome.HELD


def test_a_retry_tells_what_is_still_at_work(running: World, commands: Commands) -> None:
    """What is on its way is not begun anew, and nobody is told so."""
    away_in_the_middle_of_an_install(running)
    commands.handle({"id": "c1", "kind": "retry", "deployment": OTHER})
    with running.runner.ground.store.read() as tx:
        [told] = [one.data for one in outbox.waiting(tx, 10_000) if one.kind == "command"]
    assert told["detail"] == "tried again on no node; still at work on harbor-1"
    running.executor.cancel(second(running).operation or "")


def detail(world: World, command: str) -> str:
    """What was answered to a command."""
    with world.runner.ground.store.read() as tx:
        told = {
            one.data["id"]: one.data for one in outbox.waiting(tx, 10_000) if one.kind == "command"
        }
    return str(told[command]["detail"])


def test_a_cancelled_heal_is_not_begun_again(running: World, commands: Commands) -> None:
    """It waits for a person, who may have it tried again."""
    running.executor.lost = {Kind.UPDATE}
    running.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    running.runner.work.observer.look()
    running.runner.work.reconciler.tick()
    eventually(lambda: running.executor._waited_for)
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    running.executor.lost = set()
    calls = len(running.executor.calls)
    for _ in range(2):
        running.hurry()
        running.settle()
    one = running.placements()["harbor-2"]
    assert (one.state, one.waiting and one.waiting["for"]) == (State.FAILED, "person")
    assert len(running.executor.calls) == calls
    assert detail(running, "c1") == "cancelled on harbor-2; nothing to cancel on harbor-1"
    commands.handle({"id": "c2", "kind": "retry", "deployment": STOREFRONT})
    running.settle()
    one = running.placements()["harbor-2"]
    assert (one.state, one.outcome, one.drift) == (State.INSTALLED, Outcome.SUCCEEDED, [])


@pytest.mark.parametrize("answers", [True, False], ids=["failed before", "at work"])
def test_a_delete_is_not_cancelled_and_nobody_is_told_so(
    running: World, commands: Commands, *, answers: bool
) -> None:
    """There is nothing to go back to: it is finished, and the answer says so."""
    running.executor.error_of_delete = {
        "class": "engine", "code": "busy", "message": "try later", "cure": "",
    }  # fmt: skip
    running.executor.lost = set() if answers else {Kind.DELETE}
    running.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    state = State.FAILED if answers else State.DELETING
    eventually(lambda: {one.state for one in running.placements().values()} == {state})
    commands.handle({"id": "c1", "kind": "cancel", "deployment": STOREFRONT})
    words = "still being deleted" if answers else "still at work"
    assert detail(running, "c1") == f"cancelled on no node; {words} on harbor-1, harbor-2"
    assert {one.outcome for one in running.placements().values()} <= {
        Outcome.PENDING,
        Outcome.FAILED,
    }
    assert not any(one.cancelled for one in running.placements().values())
