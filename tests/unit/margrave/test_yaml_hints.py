"""What to write instead where YAML cannot be read."""

from __future__ import annotations

import pytest

from margrave import yaml_text
from margrave.errors import DocumentError


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "a:\n  - operator: In\n      values: [1]\n",
            3,
            "indent values by 4 blanks instead of 6, like operator in line 2",
        ),
        ("a: b\n    c: d\n", 2, "indent c by 0 blanks instead of 4, like a in line 1"),
        ("a: b: c\n", 1, "put the value of a in quotes: it has a colon and a blank in it"),
        ("a:\n\tb: 1\n", 2, "indent with blanks, not with tabs"),
        ("a: 1\nb\n", 3, "write a colon and a blank behind the key"),
        ("a: [1\n", 2, "check indentation, quotes and colons here"),
    ],
    ids=["deeper", "top", "colon", "tab", "key alone", "open list"],
)
def test_the_cure_is_what_to_change(text: str, line: int, words: str) -> None:
    """With the line that is meant, and how far to indent it."""
    with pytest.raises(DocumentError) as refused:
        yaml_text.parse(text, "f.yaml")

    [finding] = refused.value.findings
    assert (finding.line, words in finding.cure) == (line, True), finding
