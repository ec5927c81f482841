"""Paths of a chart's values: read as the node reads them, and told when two cannot both hold."""

from __future__ import annotations

import json

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _values
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from hypothesis import given
from hypothesis import strategies as st

from margrave import value_paths

PATHS = st.text(st.sampled_from(".ab[]01\\\n"), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("web.greeting", ("web", "greeting")),
        ("ports[0].number", ("ports", 0, "number")),
        ("matrix[1][2]", ("matrix", 1, 2)),
        (r"annotations.example\.com/of", ("annotations", "example.com/of")),
        ("", ()),
        ("web.", ()),
        (".web", ()),
        ("web..greeting", ()),
        ("ports[x]", ()),
        ("ports[0]number", ()),
    ],
)
def test_a_path_in_its_steps(path: str, found: tuple[str | int, ...]) -> None:
    """Keys by their dots, places in brackets; what is none of it is no path."""
    assert value_paths.steps(path) == found


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["a.b", "a.c", "d"], []),
        (["a.b", "a.b"], [("a.b", "a.b")]),
        (["a.b", "a"], [("a", "a.b")]),
        (["a[0]", "a.b"], [("a.b", "a[0]")]),
        (["a[0]", "a[1]"], []),
        (["..", "a", ".."], []),
    ],
)
def test_paths_that_cannot_both_hold(paths: list[str], found: list[tuple[str, str]]) -> None:
    """The later one is told, with the one that stands in its way."""
    assert list(value_paths.clashes(paths)) == found


@given(st.lists(PATHS, min_size=1, max_size=3))
def test_the_node_reads_paths_in_the_same_way(paths: list[str]) -> None:
    """What is fine here makes a tree there, and the other way round."""
    fine = all(map(value_paths.steps, paths)) and not list(value_paths.clashes(paths))
    try:
        tree = _values.nested({path: number for number, path in enumerate(paths)})
    except ConfigError:
        assert not fine or len(set(paths)) < len(paths)
    else:
        assert fine or len(set(paths)) < len(paths), json.dumps(tree)
