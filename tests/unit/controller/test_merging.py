"""JSON Merge Patch."""

from __future__ import annotations

from typing import Any

import pytest

from controller.merging import merged


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        (["a"], {"b": 1}, {"b": 1}),
        ({"a": 1}, ["c"], ["c"]),
        ({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
    ],
)
def test_examples_of_the_standard(target: Any, patch: Any, result: Any) -> None:
    """The examples of RFC 7396 come out as it says."""
    assert merged(target, patch) == result
