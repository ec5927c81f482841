"""Placement: stable, explained, and never moved by an absence."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from margrave.documents.extensions import LabelSelector, Placement
from margrave.placement import Node, Wish, place
from tests.unit.margrave.making import CAPABLE, nodes

ALL = Wish(Placement(), None, "compose")


def test_all_means_every_node_that_fits() -> None:
    """A node that cannot run the profile is left out, with the reason."""
    odd = Node("n3", capabilities={**CAPABLE, "deployment_types": ["helm"]})
    placed = place(ALL, (*nodes("n1", "n2"), odd), ())

    assert placed.chosen == ("n1", "n2")
    assert placed.reason("n3") == "it cannot run compose deployments (it has helm)"


def test_a_number_takes_the_least_loaded_and_keeps_what_it_has() -> None:
    """What has it keeps it, whatever the load; only new ones are weighed."""
    wish = replace(ALL, placement=Placement(nodes=1))
    heavy, light = nodes("heavy", load=9)[0], nodes("light")[0]

    assert place(wish, (heavy, light), ()).chosen == ("light",)
    assert place(wish, (heavy, light), {"heavy"}).chosen == ("heavy",)


def test_offline_never_moves_a_placement() -> None:
    """A silent node keeps what it has."""
    wish = replace(ALL, placement=Placement(nodes=1))
    silent, other = nodes("silent", active=False)[0], nodes("other")[0]

    assert place(wish, (silent, other), {"silent"}).chosen == ("silent",)


def test_drain_moves_a_number_but_not_its_data() -> None:
    """A drained node's share goes to another, unless named volumes would be left behind."""
    wish = replace(ALL, placement=Placement(nodes=1))
    drained, other = nodes("drained", drain=True)[0], nodes("other")[0]
    keeps = replace(wish, data={"drained"})

    assert place(wish, (drained, other), {"drained"}).chosen == ("other",)
    assert place(keeps, (drained, other), {"drained"}).chosen == ()
    moved = replace(keeps, placement=Placement(nodes=1, move="allow"))
    assert place(moved, (drained, other), {"drained"}).chosen == ("other",)


def test_of_too_many_the_one_that_runs_well_is_kept() -> None:
    """Fewer are wanted, or a drained node is back: what is ill, silent or leaving goes first."""
    wish = replace(ALL, placement=Placement(nodes=1), well={"b", "c"})
    a, b, c = nodes("a", "b", "c")
    silent = replace(b, active=False)

    assert place(wish, (a, b), {"a", "b"}).chosen == ("b",)
    assert place(wish, (a, silent, c), {"a", "b", "c"}).chosen == ("c",)
    assert place(replace(wish, leaving={"b"}), (a, b), {"a", "b"}).chosen == ("a",)
    assert place(replace(wish, well=()), (a, b), {"a", "b"}).chosen == ("a",)


def test_labels_and_pins_choose() -> None:
    """A selector and a pinned deviceId narrow the candidates."""
    shop, yard = nodes("shop", labels={"zone": "shop"})[0], nodes("yard")[0]
    labelled = replace(
        ALL, placement=Placement(selector=LabelSelector(matchLabels={"zone": "shop"}))
    )

    assert place(labelled, (shop, yard), ()).chosen == ("shop",)
    assert place(replace(ALL, pinned="yard"), (shop, yard), ()).chosen == ("yard",)


_fleet = st.lists(
    st.builds(
        Node,
        name=st.sampled_from("abcdefgh"),
        active=st.booleans(),
        drain=st.booleans(),
        load=st.integers(0, 5),
        capabilities=st.just(CAPABLE),
    ),
    unique_by=lambda node: node.name,
)


@given(_fleet, st.integers(1, 5), st.sets(st.sampled_from("abcdefgh")))
def test_placement_never_moves_what_need_not_move(
    fleet: list[Node], number: int, existing: set[str]
) -> None:
    """Applied to its own result, placement changes nothing; every node has a reason."""
    wish = replace(ALL, placement=Placement(nodes=number))
    first = place(wish, fleet, existing)
    kept = {n.name for n in fleet if n.name in existing and not n.drain}

    assert place(wish, fleet, set(first.chosen)).chosen == first.chosen
    assert len(kept & set(first.chosen)) == min(len(kept), number)
    assert all(candidate.reason for candidate in first.candidates)
