"""`--set` by declared types."""

from __future__ import annotations

import pytest

from margrave.cli import values
from margrave.cli.exits import Misuse


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("5", "integer", 5),
        ("5", "string", "5"),
        ("true", "boolean", True),
        ("yes", "boolean", "yes"),
        ("1.5", "double", 1.5),
        ("five", "integer", "five"),
        ("a,b", "array[string]", ["a", "b"]),
        ("1,2", "array[integer]", [1, 2]),
        ("", "array[string]", []),
        ("no", "select", "no"),
    ],
)
def test_text_becomes_what_the_application_declares(text: str, kind: str, value: object) -> None:
    """What does not read as the type stays text, for the controller to find."""
    assert values.read(text, kind) == value


def test_without_a_type_the_default_says_it() -> None:
    """And without a default it is a string."""
    assert values.declared_type({"name": "a", "default": 3}) == "integer"
    assert values.declared_type({"name": "a", "default": True}) == "boolean"
    assert values.declared_type({"name": "a"}) == "string"
    assert values.declared_type({"name": "a", "schema": {"dataType": "double"}}) == "double"


def test_a_value_may_hold_anything() -> None:
    """Equal signs, quotes and blanks belong to the value."""
    assert values.typed([("a", 'x="y" $z')], []) == {"a": 'x="y" $z'}


def test_a_parameter_twice_is_refused() -> None:
    """Neither wins."""
    with pytest.raises(Misuse):
        values.typed([("a", "1"), ("a", "2")], [])
