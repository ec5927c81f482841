"""Variables of Compose files are filled in as Compose does."""

from __future__ import annotations

import pytest

from margrave.policy.variables import UnreadableTemplate, filled, from_env_file

KNOWN = {"A": "a", "EMPTY": "", "B_1": "b"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("$A-${B_1}/$A", "a-b/a"),
        ("$$A $${A}", "$A ${A}"),
        ("${NONE}|$NONE", "|"),
        ("${NONE:-x}${EMPTY:-y}${A:-z}", "xya"),
        ("${NONE-x}${EMPTY-y}", "x"),
        ("${NONE:+x}${EMPTY:+y}${A:+z}", "z"),
        ("${NONE+x}${EMPTY+y}${A+z}", "yz"),
        ("${A:?needed}${NONE:?needed}${NONE?needed}", "a"),
        ("${NONE:-${A}}", "a"),
        ("${NONE:-${EMPTY:-${B_1}}}/x", "b/x"),
        ("${NONE:-a:b-c?d+e}", "a:b-c?d+e"),
        ("${NONE:-{x}", "{x"),
        ("${A:-{x}}", "a"),
    ],
)
def test_a_template_is_filled_in(text: str, result: str) -> None:
    """Defaults, alternatives, nesting and escaped signs; what is unknown is empty."""
    assert filled(text, KNOWN) == result


@pytest.mark.parametrize("text", ["$", "a $ b", "${", "${}", "${1}", "${A", "${A b}", "$-"])
def test_what_is_no_template_is_an_error(text: str) -> None:
    """Where Compose ends with an error, nothing is guessed."""
    with pytest.raises(UnreadableTemplate):
        filled(text, KNOWN)


def test_nesting_has_a_limit() -> None:
    """Defaults within defaults do not exhaust the stack."""
    with pytest.raises(UnreadableTemplate, match="nested too deeply"):
        filled("${N:-" * 200 + "x" + "}" * 200, {})


def test_an_env_file_has_variables() -> None:
    """Quotes, comments, `export` and variables known before."""
    text = "# no\nexport X=1\nY = 'a $A'\nZ=\"$A\"\nW=$X/${A} # why\n\nno line\n"

    assert from_env_file(text, KNOWN) == {"X": "1", "Y": "a $A", "Z": "a", "W": "1/a"}
