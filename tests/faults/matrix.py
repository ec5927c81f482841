"""Which fault is tried at which step: all of them, each step twice, or a few that tell most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from tests.faults.deeds import CLOCK
from tests.faults.lives import Case
from tests.faults.steps import STEPS, Deed

# They can strike anywhere.
ANYWHERE = ("module", "ansible", "runner", "both", "ssh", "power")
# These need their place: a cut takes half a minute to be noticed, the rest is about downloads.
AT_THEIR_PLACE = (
    Case(Deed.INSTALL, "pull", "disk"),
    Case(Deed.INSTALL, "pull", "registry"),
    Case(Deed.INSTALL, "up", "link"),
    Case(Deed.UPDATE, "claim", "disk"),
    Case(Deed.UPDATE, "pull", "disk"),
    Case(Deed.UPDATE, "pull", "registry"),
    Case(Deed.UPDATE, "pull", "slow"),
    Case(Deed.UPDATE, "pull", "download"),
    Case(Deed.UPDATE, "prove", "link"),
    Case(Deed.FAILING, "go back", "link"),
    Case(Deed.FAILING, "look back", "link"),
    Case(Deed.ROLLBACK, "claim", "disk"),
    Case(Deed.ROLLBACK, "prove", "link"),
    Case(Deed.DELETE, "claim", "disk"),
    Case(Deed.DELETE, "begin", "disk"),
    Case(Deed.DELETE, "down", "link"),
)

Life = tuple[Case, ...]


def every() -> list[Life]:
    """Each fault at each step."""
    cases = [Case(deed, step, fault) for fault in ANYWHERE for deed in Deed for step in STEPS[deed]]
    return lives([*cases, *AT_THEIR_PLACE])


def rotated() -> list[Life]:
    """Each step twice: the module killed there, and one of the other faults in turn."""
    cases = []
    for deed in Deed:
        for number, step in enumerate(STEPS[deed]):
            other = ANYWHERE[1 + number % (len(ANYWHERE) - 1)]
            cases += [Case(deed, step, "module"), Case(deed, step, other)]
    return lives([*cases, *AT_THEIR_PLACE])


def some() -> list[Life]:
    """What is tried with every change: two lives."""
    return lives(
        [
            Case(Deed.INSTALL, "pull", "disk"),
            Case(Deed.UPDATE, "up", "both"),
            Case(Deed.FAILING, "go back", "power"),
            Case(Deed.ROLLBACK, "up", "module"),
            Case(Deed.DELETE, "forget", "module"),
            Case(Deed.INSTALL, "commit", "module"),
            Case(Deed.UPDATE, "prove", "runner"),
            Case(Deed.FAILING, "up again", "ansible"),
            Case(Deed.ROLLBACK, "commit", "both"),
            Case(Deed.DELETE, "down", "ssh"),
        ]
    )


def clock() -> list[Life]:
    """Each step of the runner's wall clock at each step of each operation."""
    return lives(
        [Case(deed, step, fault) for fault in CLOCK for deed in Deed for step in STEPS[deed]]
    )


def some_clock() -> list[Life]:
    """What is tried with every change: one life, the clock set in each of its operations."""
    return lives(
        [
            Case(Deed.INSTALL, "up", "6 h back"),
            Case(Deed.UPDATE, "commit", "a day ahead"),
            Case(Deed.FAILING, "go back", "6 h back"),
            Case(Deed.ROLLBACK, "begin", "6 h ahead"),
            Case(Deed.DELETE, "forget", "6 h back"),
        ]
    )


def lives(cases: Sequence[Case]) -> list[Life]:
    """As many lives as the deed with most cases needs; elsewhere the deed just goes through."""
    columns = [[one for one in cases if one.deed is deed] for deed in Deed]
    return [
        tuple(case or Case(deed) for deed, case in zip(Deed, row, strict=True))
        for row in zip_longest(*columns)
    ]
