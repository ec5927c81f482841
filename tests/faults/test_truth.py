"""Whatever breaks or changes, what is shown becomes true within the documented time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import Lab
from tests.faults.truth.delays import Pace
from tests.faults.truth.run import TruthTest
from tests.faults.truth.world import World

pytestmark = pytest.mark.lab

SITES = {"harbor": ("harbor-1", "harbor-2")}
PACE = Pace(heartbeat=2, drift=3, connect_timeout=3)
# What happens, to whom, for how long, and how long it is looked at until the next one begins.
DEEDS = (
    ("container", "harbor-2", 1.0, 6.0),
    ("power", "harbor-1", 14.0, 4.0),
    ("runner", "harbor", 7.0, 14.0),
    ("controller", "controller", 1.0, 4.0),
)


def test_what_is_shown_is_true_while_things_break(lab: Lab, tmp_path: Path) -> None:
    """A container is killed, a node loses its power, runner and controller are killed."""
    said: list[str] = []
    world = World(lab, SITES, tmp_path, PACE)
    try:
        world.open()
        with TruthTest(world, 0, said.append) as test:
            test.deploy_everywhere()
            for name, target, seconds, looks in DEEDS:
                test.fate.begin(name, target, seconds)
                test.watch(looks)
            test.come_to_rest(6)
    finally:
        world.close()

    assert list(test.problems()) == []
    assert test.judge.compared > 100
    assert sum(test.fate.done.values()) == len(DEEDS)
