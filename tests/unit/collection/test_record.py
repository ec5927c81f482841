"""Records behave as `dataclasses` have taught people to expect, without what those cost a call."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._record import (
    as_dict,
    changing,
    field,
    parts,
    record,
    replace,
)


@record
class Berth:
    """Where a ship lies."""

    quay: str
    number: int = 1
    tags: list = field(factory=list)
    kind = "no part: it says no type"

    @property
    def name(self) -> str:
        """In one word."""
        return f"{self.quay}-{self.number}"


@changing
class Ship:
    """What lies there."""

    berth: Berth
    crew: tuple = ()
    papers: dict = field(factory=dict)


def test_parts_are_given_by_place_or_by_name() -> None:
    """What is left out is its default, and a made one is nobody else's."""
    first, second = Berth("north"), Berth("north", tags=[])

    assert (first.name, Berth("north", number=2).name, Berth("south", 3).name) == (
        "north-1",
        "north-2",
        "south-3",
    )
    assert first == second
    first.tags.append("deep")
    assert second.tags == []
    assert parts(first) == {"quay": "north", "number": 1, "tags": ["deep"]}
    assert repr(second) == "Berth(quay='north', number=1, tags=[])"


@pytest.mark.parametrize(
    ("given", "named", "words"),
    [
        ((), {}, "quay is missing"),
        (("north",), {"depth": 9}, "depth: more than its parts"),
        (("north",), {"quay": "south"}, "quay: more than its parts"),
        (("north", 1, [], 4), {}, "4: more than its parts"),
    ],
)
def test_what_does_not_fit_is_refused(given: Any, named: Any, words: str) -> None:
    """Releases of other versions are told apart by that."""
    with pytest.raises(TypeError, match=words):
        Berth(*given, **named)


def test_a_record_stays_as_it_was_made() -> None:
    """Another one is made of it; what is made to change does."""
    berth = Berth("north")
    with pytest.raises(AttributeError, match=r"Berth\.quay stays"):
        berth.quay = "south"  # type: ignore[misc]
    with pytest.raises(AttributeError, match=r"Berth\.quay stays"):
        del berth.quay
    assert replace(berth, quay="south") == Berth("south")
    assert berth != ("north", 1, [])

    ship = Ship(berth)
    ship.crew = ("cook",)
    assert ship == Ship(Berth("north"), ("cook",))


def test_only_what_cannot_change_is_a_key() -> None:
    """And only where all that it holds can be one."""
    assert {Berth("north", tags=()): "here"}[Berth("north", tags=())] == "here"  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        hash(Berth("north"))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ship(Berth("north")))


def test_a_dict_of_it_shares_nothing_with_it() -> None:
    """It is taken apart down to the last record in it."""
    ship = Ship(Berth("north", tags=["deep"]), (Berth("south"),), {"flag": ["red"]})
    told = as_dict(ship)

    assert told == {
        "berth": {"quay": "north", "number": 1, "tags": ["deep"]},
        "crew": [{"quay": "south", "number": 1, "tags": []}],
        "papers": {"flag": ["red"]},
    }
    told["papers"]["flag"].append("white")
    assert ship.papers == {"flag": ["red"]}
