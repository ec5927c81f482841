"""Strangers' regular expressions."""

from __future__ import annotations

import pytest

from margrave import patterns
from margrave.errors import MargraveError

URL = r"^(http(s):\/\/.)[-a-zA-Z0-9@:%._\+~#=]{2,256}\.[a-z]{2,6}\b([-a-zA-Z0-9@:%_\+.~#?&//=]*)$"


def test_a_pattern_is_found_anywhere_unless_it_is_anchored() -> None:
    """As the standard's own examples expect."""
    assert patterns.matches(".*@[a-z0-9.-]*", "Someone@EXAMPLE.com")
    assert patterns.matches(URL, "https://idp.example.com/realm")
    assert not patterns.matches(URL, "see https://idp.example.com")


def test_no_pattern_thinks_for_ever() -> None:
    """What keeps Python's matcher busy for longer than the universe lasts is answered at once."""
    assert not patterns.matches(r"^(a+)+$", "a" * 5000 + "!")
    assert not patterns.matches(r"^(a|a)*$", "a" * 5000 + "!")


@pytest.mark.parametrize("pattern", ["[", "(?=x)y", r"(a)\1", "(" * 500, r"(\w{1000}){1000}"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str) -> None:
    """With a reason, and nothing else."""
    with pytest.raises(MargraveError, match="is no regular expression that can be used: "):
        patterns.check(pattern)
