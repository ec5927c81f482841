"""What to write instead where YAML cannot be read."""

from __future__ import annotations

import pytest
import yaml

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


@pytest.mark.parametrize("text", ["1e5", "08", "0o17", "1.5e3", "30", "yes", "null", "~", "1.2.3"])
def test_text_is_text_to_every_reader(text: str) -> None:
    """Those of YAML 1.2 take more for numbers; what is written here is in quotes for them too."""
    written = yaml_text.dump({"a": text})

    assert yaml_text.parse(written).value == {"a": text}
    assert ("'" in written) is (text != "1.2.3")
    assert yaml.safe_load(written) == {"a": text}


def test_what_readers_do_not_agree_on_is_pointed_out() -> None:
    """A warning, for here it is clear."""
    parsed = yaml_text.parse("a: 1e5\nb: '1e5'\n")

    assert parsed.value == {"a": "1e5", "b": "1e5"}
    [warning] = parsed.warnings
    assert "1e5 is text here, and a number to readers of YAML 1.2" in warning.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: \x07\n", "f:2:4: is not YAML: control characters are not allowed"),
        ("a: \ud800\n", "f:1:1: holds half a surrogate pair"),
        (b"a: 1\nb: \xff\n", "f:2: is not UTF-8 text"),
    ],
    ids=["control", "surrogate", "bytes"],
)
def test_what_is_no_text_has_a_place_too(text: str | bytes, words: str) -> None:
    """As far as it can be told."""
    with pytest.raises(DocumentError) as refused:
        yaml_text.parse(text, "f")

    assert str(refused.value).startswith(words)
