"""What an operator asks of a site is answered, each once, and holds nothing behind it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from margrave.lifecycle import Outcome, State
from runner.ports import Observation, Target
from runner.reconcile.commands import Commands
from runner.store import outbox, placements
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually


def acknowledged(world: World) -> list[tuple[str, str]]:
    """(id, result) of each acknowledgement told."""
    with world.runner.ground.store.read() as tx:
        rows = outbox.waiting(tx, 10_000)
    return [(one.data["id"], one.data["result"]) for one in rows if one.kind == "command"]


def detail(world: World, command: str) -> str:
    """What was answered to a command."""
    with world.runner.ground.store.read() as tx:
        rows = outbox.waiting(tx, 10_000)
    told = {one.data["id"]: one.data for one in rows if one.kind == "command"}
    return str(told[command]["detail"])


def break_release(world: World, version: str) -> None:
    """Push a release that never gets healthy, and let it run its course."""
    world.executor.broken_versions.add(version)
    world.repository.deploy(version)
    world.repository.push()
    for _ in range(3):
        world.settle()
        world.hurry()
    world.settle()


def test_retry_tries_a_rolled_back_revision_again(running: World, commands: Commands) -> None:
    """What went back is tried again when an operator says so, and on every node."""
    break_release(running, "1.2.0")
    running.executor.broken_versions.clear()
    commands.handle({"id": "c1", "kind": "retry", "deployment": STOREFRONT})
    running.settle()
    assert set(running.versions().values()) == {"1.2.0"}
    assert {one.outcome for one in running.placements().values()} == {Outcome.SUCCEEDED}


def test_a_command_is_carried_out_once_and_acknowledged_each_time(
    running: World, commands: Commands
) -> None:
    """Commands come with every heartbeat until their acknowledgement has arrived."""
    break_release(running, "1.2.0")
    for _ in range(2):
        commands.handle({"id": "c1", "kind": "release", "deployment": STOREFRONT})
        running.settle()
    assert acknowledged(running) == [("c1", "done"), ("c1", "done")]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ({"kind": "dance"}, "this runner knows no command 'dance'"),
        ({}, "this runner knows no command ''"),
        ({"kind": ["retry"]}, "its kind is no text: ['retry']"),
        ({"kind": "retry"}, "retry names no deployment"),
        ({"kind": "release"}, "release names no deployment"),
        ({"kind": "cancel", "deployment": None}, "cancel names no deployment"),
        ({"kind": "accept"}, "accept names no commit"),
        ({"kind": "forget", "deployment": STOREFRONT}, "forget names no node"),
        ({"kind": "retry", "deployment": {"id": 7}}, "its deployment is no text: {'id': 7}"),
        ({"kind": "reload", "node": 7}, "its node is no text: 7"),
        ({"kind": "accept", "commit": "\ud800"}, "its commit is no text: '\\ud800'"),
        ({"kind": "retry", "deployment": "nobody"}, "no placement of nobody at this site"),
    ],
    ids=str,
)
def test_what_cannot_be_understood_is_refused_with_a_word(
    running: World, commands: Commands, command: dict[str, object], why: str
) -> None:
    """A newer controller may know more, and say it in another way: it hears what was not taken."""
    commands.handle({"id": "c9", **command})
    commands.handle({"id": "c8", "kind": "reload"})
    assert acknowledged(running) == [("c9", "refused"), ("c8", "done")]
    assert detail(running, "c9").startswith(why)


@pytest.mark.parametrize("command", [None, "retry", [], {"kind": "retry"}, {"id": 7}, {"id": ""}])
def test_what_names_no_command_is_let_go(
    running: World, commands: Commands, command: object
) -> None:
    """There is nobody to answer, and nothing behind it waits."""
    commands.handle(command)
    commands.handle({"id": "c8", "kind": "reload"})
    assert acknowledged(running) == [("c8", "done")]


def test_a_defect_in_carrying_out_a_command_holds_none_behind_it(
    running: World, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is answered, with no word of what may be secret; the log has the rest."""

    def broken(*_: object) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr(placements, "lift_quarantine", broken)
    commands.handle({"id": "c1", "kind": "retry", "deployment": STOREFRONT})
    commands.handle({"id": "c2", "kind": "reload"})
    assert acknowledged(running) == [("c1", "refused"), ("c2", "done")]
    assert detail(running, "c1") == "it could not be carried out: KeyError"


def test_a_forgotten_node_takes_its_placements_along(running: World, commands: Commands) -> None:
    """A node that burned down is no reason to wait for ever."""
    running.executor.nodes["harbor-2"].away = True
    commands.handle({"id": "c1", "kind": "forget", "node": "harbor-2"})
    running.settle()
    assert running.placements()["harbor-2"].state is State.DELETED
    assert [one.name for one in running.runner.ground.nodes.list()] == ["harbor-1"]


def test_reload_asks_the_nodes_what_they_can_do_and_waits_for_none(
    running: World, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is acknowledged at once, and ticks go on, however long the nodes take to answer."""
    nodes, inspect = running.runner.ground.nodes, running.executor.inspect
    asked, may_answer = threading.Event(), threading.Event()

    def slow(some: Sequence[Target]) -> dict[str, Observation]:
        asked.set()
        may_answer.wait(60)
        return inspect(some)

    monkeypatch.setattr(running.executor, "inspect", slow)
    for node in nodes.list():
        nodes.save(replace(node, capabilities={}))
    run, stop = running.runner.threads()["inspect"]
    thread = threading.Thread(target=run)
    thread.start()
    try:
        commands.handle({"id": "c1", "kind": "reload"})
        assert acknowledged(running) == [("c1", "done")]
        assert asked.wait(60)
        running.runner.work.reconciler.tick()
        may_answer.set()
        eventually(lambda: all(node.capabilities.get("cpus") == 4 for node in nodes.list()))
    finally:
        may_answer.set()
        stop()
        thread.join(10)
