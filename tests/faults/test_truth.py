"""Claims of a fleet become true within the documented time, whatever breaks or changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import Lab
from tests.faults.truth.claims import API, COMMANDS, PAGES
from tests.faults.truth.delays import Pace
from tests.faults.truth.run import TruthTest
from tests.faults.truth.world import World

pytestmark = pytest.mark.lab

SITES = {"harbor": ("harbor-1",), "depot": ("depot-1",)}
PACE = Pace(heartbeat=2, drift=3, connect_timeout=3)
# Name, target and seconds of each deed, and the seconds until the next one begins.
# Node and runner are away for longer than they may be shown as there.
DEEDS = (
    ("power", "harbor-1", 19.0, 0.0),
    ("runner", "depot", 12.0, 13.0),
    ("container", "depot-1", 0.0, 4.0),
    ("controller", "controller", 1.0, 1.0),
)


def test_what_is_shown_is_true_while_things_break(lab: Lab, tmp_path: Path) -> None:
    """A container is killed, a node loses its power, runner and controller are killed."""
    world = World(lab, SITES, tmp_path, PACE)
    try:
        world.open()
        with TruthTest(world, 0, print) as test:
            test.deploy_everywhere()
            for name, target, seconds, looks in DEEDS:
                test.fate.begin(name, target, seconds)
                test.watch(looks)
            test.come_to_rest(4)
    finally:
        world.close()

    assert list(test.problems()) == []
    assert set(test.judge.compared) == {channel.name for channel in (API, *COMMANDS, *PAGES)}
    assert sum(test.fate.done.values()) == len(DEEDS)
