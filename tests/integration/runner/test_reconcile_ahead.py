"""Fetching ahead: what waits for its window is on the nodes before it opens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from margrave.lifecycle import State
from tests.support.site import World

CLOSED = "no window is open for this"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where 1.0.0 runs on both nodes."""
    made = World(tmp_path)
    made.repository.deploy("1.0.0")
    made.repository.push()
    made.settle()
    yield made
    made.runner.close()


def later(**distance: float) -> list[dict[str, str]]:
    """One window, which opens after so long and stays open for an hour."""
    opens = datetime.now(UTC) + timedelta(**distance)
    return [{"cron": f"{opens.minute} {opens.hour} * * *", "duration": "1h", "timezone": "UTC"}]


def waits(world: World) -> set[str]:
    """What the placements say that they wait for."""
    return {str((one.waiting or {}).get("detail")) for one in world.placements().values()}


def test_a_download_does_not_wait_for_the_window(world: World) -> None:
    """Each node fetches while the window is closed; what runs is not touched, and it is told."""
    world.repository.deploy("1.1.0", windows=later(hours=3))
    world.repository.push()
    world.settle()
    fetched = [one for one in world.executor.calls if one.ahead]
    assert {one.node.name for one in fetched} == {"harbor-1", "harbor-2"}
    assert {one.arguments["version"] for one in fetched} == {"1.1.0"}
    assert set(world.versions().values()) == {"1.0.0"}
    assert {one.state for one in world.placements().values()} == {State.INSTALLED}
    assert waits(world) == {f"{CLOSED} update; all of it is on the node"}
    world.settle()
    assert len([one for one in world.executor.calls if one.ahead]) == 2, "once for each release"


def test_in_its_window_the_update_goes_on(world: World) -> None:
    """What was fetched ahead is switched to as soon as the window opens."""
    world.repository.deploy("1.1.0", windows=later(hours=3))
    world.repository.push()
    world.settle()
    world.repository.deploy("1.1.0", windows=later(minutes=-5))
    world.repository.push()
    world.settle()
    assert set(world.versions().values()) == {"1.1.0"}
    orders = [one.arguments["fence"]["seq"] for one in world.executor.calls]
    assert orders == sorted(set(orders)), "each call has a number of its own"


def test_what_cannot_be_fetched_is_told_before_the_window(world: World) -> None:
    """People hear of a missing image by day; nothing fails, and it is tried again."""
    world.executor.unfetchable["1.1.0"] = "registry.example does not answer"
    world.repository.deploy("1.1.0", windows=later(hours=3))
    world.repository.push()
    world.settle()
    trouble = "it is not fetched yet: registry.example does not answer"
    assert waits(world) == {f"{CLOSED} update; {trouble}"}
    assert {one.state for one in world.placements().values()} == {State.INSTALLED}
    assert world.runner.work.reconciler.tick()[1] < 40, "it is looked at again"


def test_a_newer_release_is_fetched_in_its_place(world: World) -> None:
    """What was fetched for a release that nobody wants any more says nothing of the next."""
    for version in ("1.1.0", "1.2.0"):
        world.repository.deploy(version, windows=later(hours=3))
        world.repository.push()
        world.settle()
    fetched = [one.arguments["version"] for one in world.executor.calls if one.ahead]
    assert sorted(fetched) == ["1.1.0", "1.1.0", "1.2.0", "1.2.0"]
