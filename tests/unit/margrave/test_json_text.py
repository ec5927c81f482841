"""JSON with places."""

from __future__ import annotations

import pytest

from margrave import json_text
from margrave.errors import DocumentError

TEXT = '{\n  "a": {"b~/c": [1, {"d": true}]},\n\t"e": "\\"x\\""\n}'


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("a",), (2, 8)),
        (("a", "b~/c", 1, "d"), (2, 27)),
        (("a", "b~/c", 9), (2, 17)),
        (("e",), (3, 7)),
        (("e", "deeper"), (3, 7)),
        (("nothing",), (1, 1)),
    ],
    ids=str,
)
def test_each_part_has_its_place(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """Or that of the nearest part above it."""
    assert json_text.parse(TEXT).place(path) == place


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "f.json:1:1: is not JSON: expecting value"),
        (b'{"a": 1,}', "is not JSON"),
        (b'{"a": 1, "a": 2}', '"a" stands twice in one object'),
        (b'{"a": NaN}', "holds NaN, which is no number in JSON"),
        (b"[1e999]", "holds 1e999, which is out of range"),
        (b"[" + b"9" * 5000 + b"]", "holds a number that is out of range"),
        (b"\xff", "is not UTF-8 text"),
        (b'["\\ud800"]', "holds half a surrogate pair"),
        (b"[" * 100 + b"]" * 100, "is nested deeper than 64 levels"),
        (b"[" * 100_000, "is nested deeper than 64 levels"),
        (b'"' + b"x" * 600_000 + b'"', "is larger than"),
        (b'{"a": 1} {"b": 2}', "is not JSON: extra data"),
    ],
    ids=lambda one: one[:20] if isinstance(one, bytes) else "",
)
def test_what_is_not_json_is_a_finding(data: bytes, words: str) -> None:
    """Never a traceback, and with a place where there is one."""
    with pytest.raises(DocumentError) as refused:
        json_text.parse(data, "f.json")

    assert words in str(refused.value)


def test_whole_surrogate_pairs_are_a_character() -> None:
    """JSON writes what lies beyond the first plane so."""
    assert json_text.parse(b'["\\ud83d\\ude00"]').value == ["\U0001f600"]


def test_the_first_character_tells_json_from_yaml() -> None:
    """A name does so with more right."""
    assert type(json_text.parse_any(b' {"a": 1}')) is json_text.ParsedJson
    assert type(json_text.parse_any(b"a: 1")) is not json_text.ParsedJson
    assert json_text.parse_any(b"{a: 1}", "x.yaml").value == {"a": 1}
