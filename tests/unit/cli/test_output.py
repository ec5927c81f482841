"""Tables fit a terminal, are whole in a pipe, and answers have names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.terminal.columns import NARROW, aligned, fitted, whole
from margrave.terminal.output import names

WIDTHS = st.lists(st.integers(1, 200), min_size=1, max_size=12)


@given(WIDTHS, st.integers(1, 400))
def test_columns_give_way_only_as_far_as_they_must(needed: list[int], room: int) -> None:
    """What fits stays as it is; else the sum is the room, or each wide one is at its least."""
    widths = fitted(needed, room)

    assert all(1 <= got <= want for got, want in zip(widths, needed, strict=True))
    if sum(needed) <= room:
        assert widths == needed
    else:
        assert sum(widths) <= room or all(
            got == min(want, NARROW) for got, want in zip(widths, needed, strict=True)
        )


def test_the_widest_column_gives_way_first() -> None:
    """An id keeps its twelve characters when a long reason stands beside it."""
    lines = aligned(["ID", "WHY"], [["a" * 12, "b" * 100]], width=40).splitlines()

    assert lines[1] == "a" * 12 + "  " + "b" * 25 + "…"


def test_what_other_commands_take_is_never_cut() -> None:
    """An id stays whole however narrow the terminal is; what explains a row stands below it."""
    head, row = ["ID", "NAME", "DETAIL", "CURE"], ["i" * 36, "n" * 60, "d" * 50, "c" * 20]
    lines = whole(head, [row], colours=False, width=80).splitlines()

    assert lines[1] == "i" * 36 + "  " + "n" * 41 + "…"
    assert lines[2:] == ["    " + "d" * 50, "    " + "c" * 20]


def test_without_a_terminal_nothing_is_cut() -> None:
    """No width, no limit."""
    assert "b" * 1000 in aligned(["WHY"], [["b" * 1000]])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"items": [{"id": "x", "name": "storefront", "site": "harbor"}], "next": None}, ["x"]),
        ({"items": [{"site": "harbor", "name": "harbor-1"}]}, ["harbor/harbor-1"]),
        ({"items": [{"name": "harbor"}]}, ["harbor"]),
        ({"id": "request", "deployments": [{"id": "a", "site": "s"}, {"id": "b"}]}, ["a", "b"]),
        ({"name": "harbor", "nodes": 2, "deployments": {"INSTALLED": 1}}, ["harbor"]),
        ({"items": []}, []),
        (None, []),
    ],
)
def test_names_are_what_other_commands_take(answer: object, expected: list[str]) -> None:
    """`-o name`, for xargs."""
    assert names(answer) == expected
