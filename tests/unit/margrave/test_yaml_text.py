"""Reading YAML: strict, bounded, and with the place of everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.errors import DocumentError
from margrave.yaml_text import dump, parse


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\na: 2\n", 'f.yaml:2:1: /a: "a" stands twice (keep one of them)'),
        ("", "f.yaml:1: is empty (write a document)"),
        (b"a: \xff\n", "f.yaml:1: is not UTF-8 text (save it as UTF-8)"),
        ("? [a]\n: 1\n", "f.yaml:1:3: has a key that is not text (write a plain key)"),
        ("a: !!python/object:os.x 1\n", "f.yaml:1:4: /a: has the tag tag:yaml.org,2002:python"),
        ("a: [1\n", "f.yaml:2:1: is not YAML"),
        ("[" * 100_000, "is nested deeper than 64 levels (flatten it)"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: holds a second document"),
        ("&a [*a]\n", "*a stands for nothing yet (write the value out)"),
        ("a: .inf\n", "f.yaml:1:4: /a: .inf is not a number"),
        ("a: " + "9" * 80 + "\n", "is out of range (quote it if it is text)"),
    ],
    ids=[
        "twice",
        "empty",
        "binary",
        "odd-key",
        "foreign-tag",
        "unclosed",
        "deep",
        "two",
        "itself",
        "infinite",
        "huge-number",
    ],
)
def test_what_cannot_be_a_document_is_refused_with_place_and_cure(
    text: str | bytes, told: str
) -> None:
    """A text that cannot be a document is refused with its place and what to do."""
    with pytest.raises(DocumentError) as refused:
        parse(text, "f.yaml")

    assert told in str(refused.value)


def test_an_alias_bomb_is_refused_without_being_built() -> None:
    """Aliases count each time they are used, so a small file cannot become a large value."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(DocumentError, match="holds more than"):
        parse("\n".join(lines), "f.yaml")


def test_yes_and_octal_are_pointed_out() -> None:
    """What YAML reads otherwise than people do is a warning at its place."""
    parsed = parse("a: yes\nb: 010\nc: 2024-01-01\r\n", "f.yaml")

    assert parsed.value == {"a": True, "b": 8, "c": "2024-01-01"}
    assert [one.pointer for one in parsed.warnings] == ["/a", "/b"]


_plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=20),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(st.text(min_size=1, max_size=8), below, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), _plain, min_size=1, max_size=5))
def test_what_is_written_is_read_back_the_same(value: dict[str, object]) -> None:
    """Rendering and reading again loses nothing, and rendering again gives the same text."""
    text = dump(value)

    assert parse(text).value == value
    assert dump(parse(text).value) == text
