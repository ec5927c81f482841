"""Which nodes a lab gets."""

from __future__ import annotations

import pytest

from lab import names
from margrave.errors import Conflict, Refused


@pytest.mark.parametrize(
    ("existing", "named", "count", "expected"),
    [
        ([], [], None, ["node-1", "node-2", "node-3"]),
        ([], [], 1, ["node-1"]),
        (["a"], [], None, ["a"]),
        (["a"], ["b", "a"], None, ["a", "b"]),
        (["node-2"], [], 3, ["node-2", "node-1", "node-3"]),
        (["a", "b", "c"], [], 2, ["a", "b", "c"]),
    ],
)
def test_a_lab_gets_the_nodes_asked_for_beside_those_it_has(
    existing: list[str], named: list[str], count: int | None, expected: list[str]
) -> None:
    """Nodes are never removed by `up`, and a new lab is big enough for a canary."""
    assert names.wanted(existing, named, count) == expected


@pytest.mark.parametrize("name", ["", "Big", "a_b", "-a", "a-", "../x", "a" * 64, "a b", "a\n"])
def test_a_name_that_could_become_a_path_is_refused(name: str) -> None:
    """Only DNS labels become folders and host names."""
    with pytest.raises(Refused, match="small letters"):
        names.checked(name, "node")


def test_a_node_of_several_labs_must_be_said_with_its_lab() -> None:
    """The message names the labs."""
    assert names.only_one("a", ["x"]) == "x"
    with pytest.raises(Conflict, match="x, y"):
        names.only_one("a", ["x", "y"])
