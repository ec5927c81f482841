"""The wall clock may be set at any moment: nothing waits for it, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from margrave.lifecycle import Kind, Outcome, State
from runner.ports import NodeStatus
from runner.reconcile import settlement
from runner.reconcile.tidy import Tidying
from runner.store import operations, outbox
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

STEPS = {
    "6 h back": timedelta(hours=-6),
    "6 h ahead": timedelta(hours=6),
    "a day ahead": timedelta(days=1),
}
Set = Callable[[], None]


@pytest.fixture(params=STEPS)
def step(request: pytest.FixtureRequest) -> timedelta:
    return STEPS[request.param]


@pytest.fixture(params=["going on", "restarted"])
def set_clock(request: pytest.FixtureRequest, running: World, step: timedelta) -> Set:
    """Set the wall clock, under a runner that goes on, or that is started again."""

    def change() -> None:
        running.stepped += step
        if request.param == "restarted":
            running.restart()

    return change


def well(world: World) -> bool:
    found = world.placements().values()
    return all((one.state, one.outcome) == (State.INSTALLED, Outcome.SUCCEEDED) for one in found)


def test_a_container_that_vanished_is_mended_after_a_step(running: World, set_clock: Set) -> None:
    """What is seen after an operation counts, whatever the clock said at its end."""
    set_clock()
    running.executor.nodes["harbor-1"].drift[STOREFRONT] = [{"what": "web is missing"}]
    running.settle()
    assert running.executor.nodes["harbor-1"].drift == {}
    assert running.executor.calls[-1].kind is Kind.UPDATE
    assert well(running)


def test_a_look_from_before_an_operation_is_no_news_after_a_step(
    running: World, step: timedelta
) -> None:
    """It saw what the operation has mended since."""
    observer = running.runner.work.observer
    running.executor.nodes["harbor-1"].drift[STOREFRONT] = [{"what": "web is missing"}]
    observer.look()
    seen, begun = dict(observer._found), dict(observer._begun)
    running.settle()
    running.stepped += step
    observer._found, observer._begun = seen, begun
    calls = len(running.executor.calls)
    running.runner.work.reconciler.tick()
    assert len(running.executor.calls) == calls
    assert not running.placements()["harbor-1"].drift


def test_an_update_goes_through_after_a_step(running: World, set_clock: Set) -> None:
    """Nodes are heard of as before."""
    set_clock()
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    assert well(running)


def test_a_backoff_is_no_longer_than_it_was_meant_to_be(running: World, set_clock: Set) -> None:
    """After as long as the longest pause it is tried again."""
    error = {"class": "registry", "code": "away", "message": "no answer", "cure": ""}
    running.executor.error = error
    running.repository.deploy("1.1.0", failure={"backoff": "5m"})
    running.repository.push()
    running.settle()
    running.executor.error = None
    set_clock()
    running.later += timedelta(seconds=settlement._LONGEST_BACKOFF * 1.2)
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_call_that_waits_for_its_node_is_made_again(running: World, set_clock: Set) -> None:
    """Within the longest pause, also where the node was never found silent."""
    node = running.executor.nodes["harbor-1"]
    node.away = True
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    set_clock()
    node.away = False
    running.later += timedelta(seconds=settlement._LONGEST_RETRY * 1.2)
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_an_answer_that_never_came_is_asked_for_after_its_deadline(
    running: World, step: timedelta
) -> None:
    """Not before, and not when the clock comes there again."""
    running.executor.lost = {Kind.UPDATE}
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.executor.idle())
    with running.runner.ground.store.read() as tx:
        [one] = operations.unfinished(tx)
    calls = len(running.executor.calls)
    running.stepped += step
    running.runner.work.reconciler.tick()
    assert len(running.executor.calls) == calls
    running.executor.lost = set()
    running.later += timedelta(seconds=one.deadline + 61)
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    assert running.executor.calls[calls].operation == one.id


def test_a_node_that_falls_silent_after_a_step_is_found_so(running: World, set_clock: Set) -> None:
    """And not held for active until the clock has caught up, nor silent while it answers."""
    ground = running.runner.ground
    running.runner.work.observer.look()
    set_clock()
    ground = running.runner.ground
    running.runner.work.observer.look()
    assert ground.status(ground.nodes.get("harbor-1")) is NodeStatus.ACTIVE
    running.executor.nodes["harbor-1"].away = True
    running.later += 3 * ground.period
    running.runner.work.observer.look()
    assert ground.status(ground.nodes.get("harbor-1")) is not NodeStatus.ACTIVE
    assert ground.status(ground.nodes.get("harbor-2")) is NodeStatus.ACTIVE


def test_a_node_that_died_while_the_clock_was_wrong_is_found_so(
    running: World, step: timedelta
) -> None:
    """Also after a restart: what was stored a day ahead keeps no dead node alive."""
    running.stepped += step
    running.runner.work.observer.look()
    running.stepped -= step
    for one in running.executor.nodes.values():
        one.away = True
    running.later += timedelta(minutes=10)
    running.restart()
    ground = running.runner.ground
    assert ground.status(ground.nodes.get("harbor-1")) is not NodeStatus.ACTIVE


def test_heals_go_on_after_a_step(running: World, set_clock: Set) -> None:
    """The budget is of the last minutes, by whatever clock."""
    node = running.executor.nodes["harbor-1"]
    for _ in range(5):
        node.drift[STOREFRONT] = [{"what": "web is missing"}]
        running.settle()
    node.drift[STOREFRONT] = [{"what": "web is missing"}]
    running.settle()
    assert node.drift
    set_clock()
    running.later += timedelta(minutes=6)
    running.settle()
    assert not node.drift


def test_a_hung_runner_is_not_ready_and_a_step_makes_none(running: World, step: timedelta) -> None:
    """How long the last tick is ago is not told by the wall clock."""
    client = running.runner.public.test_client()
    running.stepped += step
    assert client.get("/readyz").status_code == 200
    running.later += timedelta(minutes=6)
    assert client.get("/readyz").status_code == 503


def test_nothing_is_dropped_for_an_excursion_of_the_clock(running: World) -> None:
    """A year ahead everything would be old; it is dropped once the clock has stayed so."""
    ground, work = running.runner.ground, running.runner.work
    with ground.store.write() as tx:
        outbox.acknowledge(tx, 1, 1)
    tidying = Tidying(ground.store, work.journal, work.watch)

    def kept() -> int:
        with ground.store.read() as tx:
            return len(operations.latest(tx, 50))

    before = kept()
    running.stepped += timedelta(days=365)
    tidying.run()
    assert (before, kept()) == (2, 2)
    running.later += timedelta(hours=6)
    tidying.run()
    assert kept() == 0
