"""The judge of the truth test finds claims that stay false for too long, and no others."""

from __future__ import annotations

import pytest

from tests.faults.truth.delays import HEALTH, LAST_SEEN
from tests.faults.truth.judge import Judge, Statement

LIMITS = {HEALTH.name: 10.0, LAST_SEEN.name: 0.0}
ALLOWANCE = 3.0


def _statement(*, holds: bool, channel: str = "API", fresh: bool = True) -> Statement:
    return Statement(channel, "harbor harbor-1", HEALTH, holds, "healthy", "exited", fresh)


@pytest.fixture
def judge() -> Judge:
    """A judge who has seen nothing yet."""
    return Judge(LIMITS, ALLOWANCE)


def test_a_claim_that_is_false_for_too_long_is_found_once(judge: Judge) -> None:
    """It is found when its limit and the allowance have passed, and not again at each look."""
    found = [judge.look(at, [_statement(holds=False)]) for at in range(0, 20, 2)]

    assert [bool(one) for one in found] == [False] * 7 + [True] + [False] * 2
    assert len(judge.failures) == 1
    assert judge.failures[0].seconds == 18
    assert judge.failures[0].history == [(0, "healthy", "exited")]


def test_a_claim_that_recovers_in_time_is_not_found(judge: Judge) -> None:
    """A claim that becomes true, and false again later, begins anew."""
    for at in range(0, 40, 2):
        judge.look(at, [_statement(holds=at % 12 == 0)])

    assert judge.failures == []
    assert judge.longest[HEALTH.name][0] == 8


def test_a_channel_that_claims_nothing_ends_the_time(judge: Judge) -> None:
    """While the controller is away nothing is claimed, so nothing is false."""
    for at in range(0, 40, 2):
        judge.look(at, [] if at % 12 == 0 else [_statement(holds=False)])

    assert judge.failures == []


def test_each_channel_has_its_own_time(judge: Judge) -> None:
    """A page that is right does not excuse a command that is wrong."""
    for at in range(0, 20, 2):
        judge.look(at, [_statement(holds=True, channel="page"), _statement(holds=False)])

    assert [one.first.channel for one in judge.failures] == ["API"]


def test_a_claim_is_found_false_only_when_it_is_read(judge: Judge) -> None:
    """A page that was read before the change is not blamed until it is read again."""
    for at in range(0, 20, 2):
        judge.look(at, [_statement(holds=False, fresh=False)])
    assert judge.failures == []

    assert judge.look(20, [_statement(holds=False)])


def test_a_claim_without_a_delay_may_be_false_for_the_allowance_alone(judge: Judge) -> None:
    """The time of the last answer is never one at which the node was away."""
    false = Statement("API", "harbor harbor-1", LAST_SEEN, False, "06:00:00", "was away then")

    assert [bool(judge.look(at, [false])) for at in (0, 2, 4)] == [False, False, True]
