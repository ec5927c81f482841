"""Every line of the contract asked of a controller that serves: endpoint, field, status, exit code.

One walk, because each step stands on what the ones before have made, as it does for people.
"""

from __future__ import annotations

import pytest

from tests.functional.walk import acting, commands, deploying, people, places, runners
from tests.functional.walk.world import LINES, World

STEPS = (
    people.doors,
    people.tokens_and_users,
    people.refusals,
    places.catalogue,
    places.sites,
    places.nodes,
    deploying.plan_and_create,
    deploying.who_else_wants_the_name,
    deploying.read,
    deploying.operations,
    acting.update,
    acting.a_bad_release,
    acting.cancel,
    acting.many,
    commands.exit_codes,
    commands.a_private_source,
    commands.a_wait_that_is_over,
    commands.an_interruption,
    runners.streams,
    runners.reports,
    runners.runs,
    runners.pushes,
    acting.gone,
    places.taken_away,
)


def test_every_line_of_the_contract(world: World, request: pytest.FixtureRequest) -> None:
    """Each endpoint, its parameters, the fields that are always there, and its statuses."""
    for step in STEPS:
        step(world)
    assert [line for line in LINES if line not in world.asked] == []
