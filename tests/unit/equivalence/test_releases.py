"""Releases know by themselves which of their services an update may restart."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.equivalence.known import BYSTANDER, STORIES, release, rewritten, rotated
from tests.equivalence.releases import Release
from tests.equivalence.services import SHARED, Service
from tests.equivalence.stories import IN_SHARED, TEXTS, Deed, Story, stories

HOLDER = Service("alpha", texts=tuple(text.name for text in TEXTS), files=("motd", SHARED))
FIRST = release(HOLDER, BYSTANDER)


@pytest.mark.parametrize(
    "changed",
    [
        *(rotated(FIRST, text.name) for text in TEXTS),
        rewritten(FIRST, "motd"),
        rewritten(FIRST, IN_SHARED[-1]),
    ],
    ids=str,
)
def test_a_changed_text_or_file_changes_its_service_alone(changed: Release) -> None:
    """The service that has it is another one, and the other one is the same."""
    assert changed.unchanged(FIRST) == {"beta"}
    assert changed.expected("alpha") != FIRST.expected("alpha")


def test_a_text_that_nobody_has_changes_nothing() -> None:
    """Neither the package nor any service is another one."""
    before = release(BYSTANDER)
    after = rotated(before, TEXTS[0].name)
    assert after.unchanged(before) == {"beta"}
    assert after.compose() == before.compose()


def test_who_waits_for_a_changed_service_may_be_restarted_too() -> None:
    """Compose 2.26 makes dependents anew; those that wait for others stay."""
    before = release(Service("alpha"), Service("beta", waits=True), Service("gamma"))
    after = replace(before, services=(Service("alpha", argument=1), *before.services[1:]))
    assert after.unchanged(before) == {"gamma"}


def test_a_moved_tag_changes_its_service_and_the_package() -> None:
    """The image behind the tag is part of the release, so that the update is another release."""
    before = release(Service("alpha", moving=True), BYSTANDER)
    after = replace(before, moved=2)
    assert after.unchanged(before) == {"beta"}
    assert after.compose() != before.compose()


@settings(max_examples=100)
@given(story=stories())
def test_every_variable_of_a_story_has_a_value(story: Story) -> None:
    """A package names no variable without a value, and no value is without a use."""
    assert story[0].deed is Deed.UPDATE
    for step in story:
        if step.release is not None:
            model = step.release.compose()
            named = set(re.findall(r"\$\{(\w+)\}", str(model)))
            named |= {
                definition["environment"]
                for group in ("secrets", "configs")
                for definition in model.get(group, {}).values()
                if "environment" in definition
            }
            assert set(step.release.variables()) == named


def test_the_named_stories_have_names_of_their_own() -> None:
    """Each kind of text is rotated and kept."""
    names = {text.name for text in TEXTS}
    assert {f"rotate {name}" for name in names} | {f"keep {name}" for name in names} <= set(STORIES)
