"""One id at two sites, as a copied document makes it: a command never takes one for the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.functional.cli.storefront import ACTIONS, HARBOR, LIST, deployment, placement

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController, Run

PLACEMENTS = f"{LIST}/{HARBOR}/placements"


@pytest.fixture
def both(known: FakeController) -> FakeController:
    """The same id at harbor and at depot; whoever names no site is answered with depot's."""
    there = {site: deployment(site, HARBOR) for site in ("depot", "harbor")}
    known.lists(LIST, *there.values())

    def one(call: Call) -> Answer:
        return 200, there[call.query.get("site", "depot")]

    def its(call: Call) -> Answer:
        site = call.query.get("site", "depot")
        rows = [placement(HARBOR, site=site, node=f"{site}-1")]
        return 200, {"items": rows, "next": None}

    known.does("GET", f"{LIST}/{HARBOR}", one)
    known.does("GET", PLACEMENTS, its)
    for part in ("explain", "history"):
        known.does("GET", f"{LIST}/{HARBOR}/{part}", lambda call: (200, _part(call)))
    return known


def _part(call: Call) -> dict[str, object]:
    site = call.query.get("site", "depot")
    told = {"state": "INSTALLED", "outcome": "succeeded", "answer": f"as {site} tells"}
    row = {"at": "2030-01-01T10:00:00Z", "from": None, "to": f"AT-{site}", "node": f"{site}-1"}
    return {**told, "steps": [], "items": [row], "next": None}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("deployment show", "harbor/harbor-1"),
        ("deployment explain", "as harbor tells"),
        ("deployment history", "AT-harbor"),
    ],
)
@pytest.mark.parametrize("name", ["storefront", HARBOR])
def test_what_is_read_is_of_the_site_that_is_named(
    run: Run, both: FakeController, words: str, said: str, name: str
) -> None:
    """By name or by id; without a site all of them are meant."""
    one = run(*words.split(), name, "--site", "harbor").out
    assert said in one
    assert "depot" not in one
    whole = run(*words.split(), name).out
    assert said in whole
    assert "depot" in whole


@pytest.mark.parametrize("verb", ["retry", "rollback", "cancel", "release", "delete"])
@pytest.mark.parametrize("name", ["storefront", HARBOR])
def test_what_is_done_is_done_at_the_site_that_is_named(
    run: Run, both: FakeController, verb: str, name: str
) -> None:
    """The other site's deployment of that id is left alone."""
    yes = ("--yes",) if verb == "delete" else ()

    assert run("deployment", verb, name, "--site", "harbor", *yes).code == 0
    select = {"ids": [HARBOR], "sites": ["harbor"]}
    assert both.sent("POST", ACTIONS) == [{"action": verb, "select": select}]


def test_the_end_of_one_is_not_taken_for_the_others(run: Run, both: FakeController) -> None:
    """What is waited for is asked of its site."""
    ran = run("deployment", "update", "storefront", "--site", "harbor", "--version", "1.1.0",
              "--wait", "-o", "json")  # fmt: skip

    assert [row["node"] for row in ran.json["placements"]] == ["harbor-1"]
    assert {call.query.get("site") for call in both.calls if call.path == PLACEMENTS} == {"harbor"}
