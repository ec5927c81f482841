"""What keeps its data on a node is stopped by a drain, moves nowhere, and comes back to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave.lifecycle import Kind, Outcome, State
from margrave.placement import Node
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

RELEASE = "1" * 64
BUSY = 9


def stands(node: str, **changes: Any) -> Standing:
    """The shop with its database, well and with a volume."""
    well = Standing(
        ID, node, State.INSTALLED, Outcome.SUCCEEDED, "storefront",
        release=RELEASE, good_release=RELEASE, wanted_release=RELEASE, keeps_data=True,
    )  # fmt: skip
    return replace(well, **changes)


def left(node: str, number: int = 9) -> Standing:
    """The same after its delete: its volume is still there."""
    gone = {"state": State.DELETED, "release": None, "last": (1, number)}
    return stands(node, **gone)


def steps(
    *standing: Standing, fleet: tuple[Node, ...], **placement: Any
) -> list[tuple[str, Kind | None]]:
    """(node, kind) of what is planned for a shop of one node, or as many as `placement` says."""
    wanted = Wanted(deployment(placement={"nodes": 1, **placement}), RELEASE)
    found = plan(SiteView("harbor", NOW, (wanted,), standing, fleet)).steps
    return [(one.node, one.kind) for one in found]


def fleet(drained: str = "", away: str = "", load: int = BUSY) -> tuple[Node, ...]:
    """n1 with much on it beside n2 and n3."""
    made = (*nodes("n1", load=load), *nodes("n2", "n3"))
    return tuple(
        replace(one, drain=one.name in drained, active=one.name not in away) for one in made
    )


def test_before_during_and_after_the_delete_nothing_is_installed_elsewhere() -> None:
    """Taken off the drained node, and that is all, in however many ticks."""
    assert steps(stands("n1"), fleet=fleet("n1")) == [("n1", Kind.DELETE)]
    assert steps(stands("n1", state=State.DELETING, busy=True), fleet=fleet("n1")) == []
    assert steps(left("n1"), fleet=fleet("n1")) == []


def test_once_the_drain_ends_it_comes_back_to_its_data() -> None:
    """However little the other nodes have on them."""
    assert steps(left("n1"), fleet=fleet()) == [("n1", Kind.INSTALL)]


def test_it_waits_for_the_node_with_its_data_to_answer() -> None:
    """A node that is silent when its drain ends is no reason to begin with an empty volume."""
    assert steps(left("n1"), fleet=fleet(away="n1")) == []


def test_of_two_nodes_with_data_the_last_one_counts() -> None:
    """What was left there long ago is older than what it wrote since."""
    older = left("n2", 8)
    assert steps(older, left("n1"), fleet=fleet()) == [("n1", Kind.INSTALL)]
    assert steps(older, left("n1"), fleet=fleet("n1")) == []
    assert steps(older, stands("n1"), fleet=fleet("n1")) == [("n1", Kind.DELETE)]


def test_the_other_shares_are_not_bound_to_the_drained_node() -> None:
    """Of three one stays with its data, and the two others run where they are or find a place."""
    three = {"nodes": 3}
    assert steps(left("n1"), stands("n2"), fleet=fleet("n1"), **three) == [("n3", Kind.INSTALL)]
    assert steps(left("n1"), stands("n2"), stands("n3"), fleet=fleet(), **three) == [
        ("n1", Kind.INSTALL)
    ]


@pytest.mark.parametrize(
    ("standing", "placement"),
    [
        (left("n1"), {"move": "allow"}),
        (replace(left("n1"), keeps_data=False), {}),
        (replace(left("n1"), node="burned"), {}),
        (left("n1"), {"selector": {"matchLabels": {"zone": "yard"}}}),
    ],
    ids=["it may move", "it keeps no data", "its node is forgotten", "other nodes are wanted"],
)
def test_what_is_not_bound_by_its_data_moves(standing: Standing, placement: dict[str, Any]) -> None:
    """To the node that has the least on it."""
    yard = tuple(
        replace(one, labels={"zone": "yard"} if one.name == "n2" else {}) for one in fleet("n1")
    )
    assert steps(standing, fleet=yard, **placement) == [("n2", Kind.INSTALL)]


def test_each_node_says_why_it_was_not_chosen() -> None:
    """Drained, or free and yet not the one where the data is."""
    wanted = Wanted(deployment(placement={"nodes": 1}), RELEASE)
    view = SiteView("harbor", NOW, (wanted,), (left("n1"),), fleet("n1", away="n3"))
    placed = plan(view).placed[ID]
    assert {one.node: one.reason for one in placed.candidates} == {
        "n1": "it is drained",
        "n2": "the data stays on n1",
        "n3": "it is not active",
    }
