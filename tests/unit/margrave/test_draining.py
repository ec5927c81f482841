"""What a drain would stop or move is told before, node by node, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave.documents.site import read_site
from margrave.draining import Leaving, drained
from margrave.lifecycle import Kind, Outcome, State
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Waiting, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

RELEASE = "1" * 64
NIGHT = b'windows: [{cron: "0 2 * * *", duration: 1h}]\n'


def runs(node: str, **changes: Any) -> Standing:
    """The storefront on a node, well."""
    well = Standing(
        ID, node, State.INSTALLED, Outcome.SUCCEEDED, "storefront",
        release=RELEASE, good_release=RELEASE, wanted_release=RELEASE,
    )  # fmt: skip
    return replace(well, **changes)


def view(*standing: Standing, site: bytes = b"{}", gone: bool = False, **ours: Any) -> SiteView:
    """Three nodes and the storefront, wanted so."""
    wanted = () if gone else (Wanted(deployment(**ours), RELEASE),)
    fleet = nodes("n1", "n2", "n3")
    return SiteView("harbor", NOW, wanted, standing, fleet, document=read_site(site))


ONE = {"placement": {"nodes": 1}}


@pytest.mark.parametrize(
    ("ours", "standing", "to", "why"),
    [
        (ONE, runs("n1"), "n2", "it moves to n2"),
        (ONE, runs("n1", keeps_data=True), None, "it stops: its data stays on n1"),
        (
            {"placement": {"nodes": 1, "move": "allow"}},
            runs("n1", keeps_data=True),
            "n2",
            "it moves to n2, without its data",
        ),
        (
            {},
            runs("n1"),
            None,
            "it stops: it runs on every node that fits, and moves to none",
        ),
        ({"placement": {"nodes": ["n1", "n2"]}}, runs("n1"), None, "it stops: it names n1"),
        ({"device": "harbor/n1"}, runs("n1"), None, "it stops: it is pinned to n1"),
        (
            {"placement": {"nodes": 1, "selector": {"matchLabels": {"zone": "yard"}}}},
            runs("n1"),
            None,
            "it stops: no other node can take it",
        ),
        ({"gone": True}, runs("n1"), None, "it is removed from Git"),
    ],
    ids=["a number", "with data", "may move", "all", "named", "pinned", "no place", "removed"],
)
def test_each_way_of_placing_has_its_answer(
    ours: dict[str, Any], standing: Standing, to: str | None, why: str
) -> None:
    """What stops, what moves, and where to."""
    assert drained(view(standing, **ours), {"n1"}) == (Leaving(ID, "n1", to, why),)


def test_what_moves_finds_a_node_for_each_or_stops() -> None:
    """Two leave and one node is left."""
    two = view(runs("n1"), runs("n2"), placement={"nodes": 2})
    assert [(one.node, one.to) for one in drained(two, {"n1", "n2"})] == [
        ("n1", "n3"),
        ("n2", None),
    ]


def test_a_whole_site_only_stops() -> None:
    """There is nowhere to go."""
    found = drained(view(runs("n1"), **ONE), {"n1", "n2", "n3"})
    assert [(one.to, one.why) for one in found] == [(None, "it stops: no other node can take it")]


def test_a_drain_that_has_to_wait_says_for_what() -> None:
    """For a window, or for what is at work on the node."""
    [waits] = drained(view(runs("n1"), site=NIGHT, **ONE), {"n1"})
    assert waits.waiting is not None
    assert (waits.waiting.reason, waits.waiting.until) == ("window", NOW.replace(day=3, hour=2))
    busy = runs("n1", state=State.UPDATING, busy=True)
    [behind] = drained(view(busy, **ONE), {"n1"})
    assert behind.waiting == Waiting("operation", detail="what is at work there ends first")


def test_what_is_told_is_what_the_planner_does() -> None:
    """The same deletes, and the same installs in their place."""
    before = view(runs("n1"), runs("n3"), placement={"nodes": 2})
    [told] = drained(before, {"n1"})
    fleet = tuple(replace(one, drain=one.name == "n1") for one in before.nodes)
    steps = plan(replace(before, nodes=fleet)).steps
    assert [(one.kind, one.node) for one in steps] == [
        (Kind.DELETE, told.node),
        (Kind.INSTALL, told.to),
    ]


def test_an_empty_node_has_nothing_to_tell() -> None:
    """Neither has one that nothing stands on any more."""
    assert drained(view(runs("n1", state=State.DELETED), **ONE), {"n1"}) == ()
