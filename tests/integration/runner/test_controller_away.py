"""The controller away for a whole update and a heal: afterwards its history is complete.

All of it is real: a controller and a runner in processes of their own, a node with podman, a push.
"""

from __future__ import annotations

import pytest

from tests.support.clients import Client
from tests.support.place import LIMIT, NODE, Place
from tests.support.repository import STOREFRONT
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

TOLD = ("node", "incarnation", "from", "to", "actor", "reason", "operation", "attempt", "commit")
ONE_CHANGE = [("INSTALLED", "UPDATING"), ("UPDATING", "INSTALLED")]


def test_an_update_and_a_heal_while_the_controller_was_dead_are_told_afterwards(
    place: Place,
) -> None:
    """Complete, in order, each once: with who, why, which operation and which commit."""
    before = place.moves()
    trouble = lambda: place.runner.status()["controller"]["trouble"]  # noqa: E731
    place.controller.kill()
    eventually(trouble, LIMIT, "nobody answers")

    place.want("1.1.0")
    eventually(lambda: place.runs("1.1.0"), LIMIT, "1.1.0 runs", 0.2)
    eventually(lambda: place.moves() == before + ONE_CHANGE, LIMIT, "the update is noted", 0.2)
    place.lab.ssh(NODE, "podman rm -f -t 0 $(podman ps -qf name=web)", check=True)
    healed = before + 2 * ONE_CHANGE
    eventually(lambda: place.moves() == healed and place.runs("1.1.0"), LIMIT, "it is healed", 0.2)
    assert Client(place.lab.node(NODE).address).ask() == "1.1.0"
    assert trouble()
    assert place.runner.status()["controller"]["reports_waiting"] > 0

    place.controller.start()
    eventually(lambda: len(place.history()) >= len(healed), LIMIT, "the history is there", 0.2)
    waiting = lambda: place.runner.status()["controller"]["reports_waiting"]  # noqa: E731
    eventually(lambda: not waiting(), LIMIT, "all reports are delivered", 0.2)
    found = [tuple(one[key] for key in TOLD) for one in place.history()]
    assert found == [tuple(one[key] for key in TOLD) for one in place.runner.told(STOREFRONT)]
    assert [(one["from"], one["to"]) for one in place.history()] == healed
