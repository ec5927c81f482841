"""Fetching ahead: what waits for its window is on the nodes before it opens."""

from __future__ import annotations

import errno
from datetime import UTC, datetime, timedelta

import pytest

from margrave.lifecycle import State
from runner.store import Transaction, site
from tests.support.site import World

CLOSED = "no window is open for this"


def later(**distance: float) -> list[dict[str, str]]:
    """One window, which opens after so long and stays open for an hour."""
    opens = datetime.now(UTC) + timedelta(**distance)
    return [{"cron": f"{opens.minute} {opens.hour} * * *", "duration": "1h", "timezone": "UTC"}]


def waits(world: World) -> set[str]:
    """What the placements say that they wait for."""
    return {str((one.waiting or {}).get("detail")) for one in world.placements().values()}


def test_a_download_does_not_wait_for_the_window(running: World) -> None:
    """Each node fetches while the window is closed; what runs is not touched, and it is told."""
    running.repository.deploy("1.1.0", windows=later(hours=3))
    running.repository.push()
    running.settle()
    fetched = [one for one in running.executor.calls if one.ahead]
    assert {one.node.name for one in fetched} == {"harbor-1", "harbor-2"}
    assert {one.arguments["version"] for one in fetched} == {"1.1.0"}
    assert set(running.versions().values()) == {"1.0.0"}
    assert {one.state for one in running.placements().values()} == {State.INSTALLED}
    assert waits(running) == {f"{CLOSED} update; all of it is on the node"}
    running.settle()
    assert len([one for one in running.executor.calls if one.ahead]) == 2, "once for each release"


def test_in_its_window_the_update_goes_on(running: World) -> None:
    """What was fetched ahead is switched to as soon as the window opens."""
    running.repository.deploy("1.1.0", windows=later(hours=3))
    running.repository.push()
    running.settle()
    running.repository.deploy("1.1.0", windows=later(minutes=-5))
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    orders = [one.arguments["fence"]["seq"] for one in running.executor.calls]
    assert orders == sorted(set(orders)), "each call has a number of its own"


def test_what_cannot_be_fetched_is_told_before_the_window(running: World) -> None:
    """People hear of a missing image by day; nothing fails, and it is tried again."""
    running.executor.unfetchable["1.1.0"] = "registry.example does not answer"
    running.repository.deploy("1.1.0", windows=later(hours=3))
    running.repository.push()
    running.settle()
    trouble = "it is not fetched yet: registry.example does not answer"
    assert waits(running) == {f"{CLOSED} update; {trouble}"}
    assert {one.state for one in running.placements().values()} == {State.INSTALLED}
    assert running.runner.work.reconciler.tick()[1] < 40, "it is looked at again"


def test_a_newer_release_is_fetched_in_its_place(running: World) -> None:
    """What was fetched for a release that nobody wants any more says nothing of the next."""
    for version in ("1.1.0", "1.2.0"):
        running.repository.deploy(version, windows=later(hours=3))
        running.repository.push()
        running.settle()
    fetched = [one.arguments["version"] for one in running.executor.calls if one.ahead]
    assert sorted(fetched) == ["1.1.0", "1.1.0", "1.2.0", "1.2.0"]


def test_a_fetch_whose_call_cannot_be_made_holds_nothing_else(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other node fetches, what the placements wait for is told, and it is tried again."""
    ways = {"192.0.2.2": None}  # by address; that of harbor-1 is not foreseen
    monkeypatch.setattr(type(running.runner.ground), "jump", lambda _, address: ways[address])
    running.repository.deploy("1.1.0", windows=later(hours=3))
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    fetched = [one for one in running.executor.calls if one.ahead]
    assert {one.node.name for one in fetched} == {"harbor-2"}
    trouble = "it is not fetched yet: the call could not be made: KeyError"
    waiting = running.placements()["harbor-1"].waiting
    assert waiting is not None and waiting["detail"] == f"{CLOSED} update; {trouble}"
    assert running.runner.work.reconciler.tick()[1] < 40, "it is looked at again"


def test_a_full_disk_leaves_no_fetch_begun_by_half(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick fails as a whole, and the next one begins what this one did not."""
    running.repository.deploy("1.1.0", windows=later(hours=3))
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    numbers, left = site.take_fence_seq, iter([True])

    def full(tx: Transaction) -> int:
        if next(left, None):
            return numbers(tx)
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(site, "take_fence_seq", full)
        with pytest.raises(OSError, match="no space"):
            running.runner.work.reconciler.tick()
    running.settle()
    fetched = [one.node.name for one in running.executor.calls if one.ahead]
    assert sorted(fetched) == ["harbor-1", "harbor-2"]
