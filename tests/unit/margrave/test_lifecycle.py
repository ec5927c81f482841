"""The life cycle table and what is derived from it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from margrave.lifecycle import (
    TRANSITIONS,
    Outcome,
    State,
    allowed,
    margo_word,
    overall_outcome,
    overall_state,
)


def test_a_placement_begins_pending_and_ends_deleted() -> None:
    """Nothing precedes PENDING and nothing follows DELETED."""
    assert [to for to in State if allowed(None, to)] == [State.PENDING]
    assert not any(allowed(State.DELETED, to) for to in State)


def test_every_state_but_the_last_can_reach_deleted() -> None:
    """Nothing is ever stuck: from anywhere there is a way out."""
    reach = {State.DELETED}
    while found := {frm for frm, to in TRANSITIONS if to in reach} - reach:
        reach |= found

    assert reach == set(State)


def test_rolled_back_never_looks_like_success() -> None:
    """The worst outcome of any node is the deployment's."""
    assert overall_outcome([Outcome.SUCCEEDED, Outcome.ROLLED_BACK]) is Outcome.ROLLED_BACK
    assert overall_outcome([Outcome.HELD, Outcome.ROLLED_BACK]) is Outcome.ROLLED_BACK
    assert overall_outcome([]) is Outcome.PENDING


def test_a_deployment_without_placements_follows_git() -> None:
    """Wanted and nowhere yet is PENDING; gone from Git and nowhere is DELETED."""
    assert overall_state([]) is State.PENDING
    assert overall_state([State.DELETED]) is State.PENDING
    assert overall_state([], in_git=False) is State.DELETED
    assert overall_state([State.DELETED, State.FAILED], in_git=False) is State.FAILED


@given(st.lists(st.sampled_from(State), min_size=1), st.booleans())
def test_the_overall_state_is_one_that_a_placement_has(states: list[State], in_git: bool) -> None:
    """The overall state is never invented, but for PENDING when all were taken off."""
    overall = overall_state(states, in_git=in_git)

    assert overall in states or (overall is State.PENDING and set(states) == {State.DELETED})


def test_margo_hears_its_own_six_words() -> None:
    """Every state has a word of Margo's."""
    words = {"pending", "installing", "installed", "removing", "removed", "failed"}

    assert {margo_word(state) for state in State} == words
