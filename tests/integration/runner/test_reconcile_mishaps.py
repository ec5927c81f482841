"""What goes wrong at a site, and holds nothing else there; nodes are only pretended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from margrave.errors import SettingsError
from margrave.lifecycle import Kind, Outcome, State
from runner import settings
from runner.ports import Call
from runner.reconcile import endings
from runner.settings import NodesRegistry
from runner.store import Operation, OperationState, operations, outbox
from tests.support.site import World
from tests.support.waiting import eventually

OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where nothing is deployed yet, with a registry that asks for a password."""
    (tmp_path / "password").write_text("pw\n")
    login = NodesRegistry(host="r.example", username="u", password_file=tmp_path / "password")
    made = World(tmp_path, registries=(login,))
    yield made
    made.runner.close()


def want(world: World, version: str) -> None:
    """Git wants this version from now on, and the runner has seen it."""
    world.repository.deploy(version)
    world.repository.push()
    world.runner.work.watch.look(hinted=True)


def unfinished(world: World) -> tuple[Operation, ...]:
    """The operations that run or wait."""
    with world.runner.ground.store.read() as tx:
        return operations.unfinished(tx)


def reports(world: World) -> int:
    """How many events wait for the controller."""
    with world.runner.ground.store.read() as tx:
        return outbox.count_waiting(tx)


def readiness(world: World) -> tuple[int, str]:
    """What /readyz answers, and why."""
    answer = world.runner.public.test_client().get("/readyz")
    return answer.status_code, answer.get_json()["reason"]


def fall_silent(world: World, node: str) -> None:
    """A node that answers nothing, and was not heard of for an hour."""
    world.executor.nodes[node].away = True
    world.later += timedelta(hours=1)


def test_a_password_that_cannot_be_read_is_the_sites_trouble_and_holds_nothing_else(
    running: World, tmp_path: Path
) -> None:
    """It is told with its cure and tried again; what needs no registry goes on meanwhile."""
    running.repository.deploy(
        "1.0.0", name="second", identifier=OTHER, number=5, placement={"nodes": ["harbor-2"]}
    )
    running.repository.push()
    running.settle()
    (tmp_path / "password").unlink()
    running.repository.remove(f"deployments/harbor/{OTHER}.yaml")
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.settle()
    one = running.placements()["harbor-1"]
    assert (one.state, one.outcome) == (State.FAILED, Outcome.PENDING)
    assert one.error is not None
    assert one.error["class"] == "auth"
    assert "the password of r.example cannot be read: No such file" in one.error["message"]
    assert str(tmp_path / "password") in one.error["cure"]
    assert OTHER not in running.executor.nodes["harbor-2"].running
    assert readiness(running) == (200, "")
    (tmp_path / "password").write_bytes(b"\xff\xfe")
    running.hurry()
    running.settle()
    error = running.placements()["harbor-1"].error
    assert error is not None and "it is no text" in error["message"]
    (tmp_path / "password").write_text("pw\n")
    running.hurry()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_defect_in_making_one_call_ends_that_one(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operation says so, a person is asked for; the other node's call is made."""
    ways = {"192.0.2.2": None}  # by address; that of harbor-1 is not foreseen
    monkeypatch.setattr(type(running.runner.ground), "jump", lambda _, address: ways[address])
    running.repository.deploy("1.1.0", strategy={"batch": "all"})
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.versions()["harbor-2"] == "1.1.0")
    error = running.placements()["harbor-1"].error
    assert error is not None
    assert (error["class"], error["message"]) == (
        "internal",
        "the call could not be made: KeyError",
    )


def test_a_password_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    """At the start, with the others: not when the first deployment needs it."""
    file = tmp_path / "margrave.toml"
    file.write_text(
        '[site]\nname = "harbor"\n[git]\nremote = "x"\n[[registries]]\nhost = "r.example"\n'
        'username = "u"\npassword_file = "password"\n'
    )
    with pytest.raises(SettingsError, match=r"registries.*password is no file"):
        settings.load(file, {})
    (tmp_path / "password").write_text("pw")
    assert settings.load(file, {}).registries[0].password_file == tmp_path / "password"


def test_a_tick_that_fails_is_told_from_the_first_one_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks whether the site is looked after must not hear that all is well."""
    reconciler = world.runner.work.reconciler

    def broken() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(world.runner.work.watch, "take_up", broken)
    with pytest.raises(OSError, match="No space"):
        reconciler.tick()
    assert reconciler.last_tick is None
    told = "the last one failed: OSError: [Errno 28] No space left on device"
    assert readiness(world) == (503, told)
    monkeypatch.undo()
    reconciler.tick()
    assert readiness(world) == (200, "")


def test_an_answer_that_cannot_be_written_down_is_asked_for_again(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, a busy database: nothing is stuck until the operation's deadline."""
    broken = threading.Event()

    def full(*_: object) -> None:
        broken.set()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(endings, "write", full)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # as a run's own thread logs it
    want(running, "1.1.0")
    running.runner.work.reconciler.tick()
    assert broken.wait(60)
    eventually(lambda: running.executor.idle())
    [one] = unfinished(running)
    assert one.state is OperationState.RUNNING
    monkeypatch.undo()
    running.runner.work.reconciler.tick()
    calls = len(running.executor.calls)
    running.later += timedelta(seconds=30)
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    again = running.executor.calls[calls]
    assert (again.operation, again.arguments["fence"]["seq"]) == (one.id, one.seq)
    assert running.executor.nodes["harbor-1"].switches == 2


def test_a_take_over_gives_what_waits_a_fence_that_counts(running: World) -> None:
    """A call that waits for its node is made with the new epoch: the node, which heard of another
    runner meanwhile, does not refuse it, and this one does not stand down again."""
    node = running.executor.nodes["harbor-1"]
    node.away = True
    want(running, "1.1.0")
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    for one in running.executor.nodes.values():
        one.runner, one.epoch = "somebody-else", 2
    running.settle()
    assert readiness(running)[0] == 503
    assert running.runner.admin.test_client().post("/takeover").get_json()["epoch"] == 3
    node.away = False
    running.hurry()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    assert readiness(running) == (200, "")
    one = running.placements()["harbor-1"]
    assert (one.state, one.outcome) == (State.INSTALLED, Outcome.SUCCEEDED)


def test_a_refusal_from_before_the_take_over_makes_nobody_stand_down(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call was on its way when the site was taken over; it is made again, with a new fence."""
    node, start = running.executor.nodes["harbor-1"], running.executor.start
    held: list[tuple[Call, object, object]] = []
    monkeypatch.setattr(
        running.executor,
        "start",
        lambda calls, *listeners: held.extend((call, *listeners) for call in calls),
    )
    want(running, "1.1.0")
    running.runner.work.reconciler.tick()
    [(call, on_progress, on_result)] = held
    node.runner, node.epoch = "somebody-else", 2
    running.runner.admin.test_client().post("/takeover")
    monkeypatch.undo()
    start([call], on_progress, on_result)  # type: ignore[arg-type]
    eventually(lambda: running.placements()["harbor-1"].waiting)
    running.hurry()
    running.settle()
    assert readiness(running) == (200, "")
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_silent_node_is_not_called_and_nothing_is_told_of_it(running: World) -> None:
    """However long it stays away: its call is made when it is heard of again."""
    running.executor.nodes["harbor-1"].away = True
    want(running, "1.1.0")
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    fall_silent(running, "harbor-1")
    running.settle()
    calls, before = len(running.executor.calls), reports(running)
    for _ in range(5):
        running.later += timedelta(minutes=10)
        running.settle()
    assert (len(running.executor.calls), reports(running)) == (calls, before)
    running.executor.nodes["harbor-1"].away = False
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_once_ends_when_its_time_is_over_and_tells_what_waits(running: World) -> None:
    """A node that never answers keeps nobody at the shell."""
    running.executor.lost = {Kind.UPDATE}
    running.repository.deploy("1.1.0")
    running.repository.push()
    began = time.monotonic()
    told = running.runner.work.reconciler.once(1)
    assert time.monotonic() - began < 20
    assert told == {"fetch": "done", "started": 1, "waiting": 1}
    running.executor.cancel(unfinished(running)[0].id)
