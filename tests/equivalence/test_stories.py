"""However a release came to run, its containers are those of a fresh install."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings

from tests.equivalence.known import QUICK, STORIES
from tests.equivalence.oracle import Oracle
from tests.equivalence.stories import Story, stories

pytestmark = pytest.mark.lab

BOTH = pytest.mark.parametrize("oracle", ["podman", "docker"], indirect=True)


@pytest.mark.parametrize("name", list(QUICK))
def test_one_change_at_a_time(oracle: Oracle, name: str) -> None:
    """A rotated text, a rewritten file or a moved tag reaches its service, and that one alone."""
    assert not str(oracle.lead(QUICK[name]) or "")


@settings(max_examples=3, derandomize=True, deadline=None, phases=(Phase.generate,))
@given(story=stories(longest=3, reboots=False))
def test_generated_stories(oracle: Oracle, story: Story) -> None:
    """After each step of a generated story what runs equals a fresh install on an empty node."""
    assert not str(oracle.lead(story) or "")


@pytest.mark.full
@BOTH
@pytest.mark.parametrize("name", list(STORIES))
def test_every_change_by_name(oracle: Oracle, name: str) -> None:
    """Each kind of change and damage, one at a time, also across a reboot, ends as if afresh."""
    assert not str(oracle.lead(STORIES[name]) or "")


@pytest.mark.full
@BOTH
@settings(max_examples=25, derandomize=True, deadline=None)
@given(story=stories(longest=8))
def test_many_generated_stories(oracle: Oracle, story: Story) -> None:
    """Long stories with failures, killed modules, power cuts and repairs end as if afresh."""
    assert not str(oracle.lead(story) or "")
