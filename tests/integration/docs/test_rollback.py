"""`docs/howto/rollback.md`, after a release that went back, with its wrong turns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("rollback")


def test_roll_back(shop: Reader, lab: Lab) -> None:
    """A bad release goes back by itself; then each way of the page, and a cancelled change."""
    shop.type("margrave deployment update storefront --version 1.2.0 --wait", 1)
    for line in PAGE.block("$ margrave deployment show").lines:
        assert "not healthy" in shop.type(line)
    assert box.version(lab) == "1.0.0"
    shop.type(PAGE.line(" release "), 1)  # the cause is in the release, so it fails again

    before, to = PAGE.lines(" rollback ")
    shop.type("margrave deployment update storefront --version 1.1.0 --wait")
    shop.type(before)
    assert box.version(lab) == "1.0.0"
    shop.type(to)
    assert box.version(lab) == "1.0.0"

    shop.type("margrave deployment update storefront --version 1.2.0")
    eventually(lambda: _state(shop) == "UPDATING", 120, "the update is under way")
    shop.type(PAGE.line(" cancel "), 1)
    assert box.version(lab) == "1.0.0"
    shop.type(to)

    pause, resume = PAGE.lines(" site ")
    shop.type(pause)
    assert "stocktaking" in shop.type("margrave site show harbor")
    shop.type(resume)
    assert unexecuted("rollback", shop.executed) == []


def _state(reader: Reader) -> str:
    with reader.api() as api:
        [deployment] = api.get("/deployments").json()["items"]
        [placement] = api.get(f"/deployments/{deployment['id']}/placements").json()["items"]
    return str(placement["state"])


@pytest.mark.parametrize(
    ("line", "code", "cure"),
    [
        ("margrave deployment rollback storefrnt --wait", 3, 'did you mean "storefront"?'),
        ("margrave deployment rollback storefront --to 9.9.9 --wait", 3, "update to a version"),
        (
            "margrave deployment rollback storefront --site depot --wait",
            3,
            "margrave deployment list",
        ),
        ("margrave deployment release storefront", 0, "accepted"),
        ("margrave deployment cancel storefront --wait", 0, "it runs already"),
        ("margrave site pause harbor --until 2030-01-31T18:00:00Z", 2, "--reason"),
        ("margrave site pause harbor --reason x --until yesterday", 2, "2030"),
        ("margrave site pause haven --reason stocktaking", 3, "there is no site"),
    ],
)
def test_a_wrong_turn_changes_nothing(
    shop: Reader, lab: Lab, line: str, code: int, cure: str
) -> None:
    """Refused with what to do; harmless where nothing failed and nothing is in progress."""
    commit = _commit(shop)
    assert cure in shop.type(line, code)
    assert _commit(shop) == commit
    assert box.version(lab) == "1.0.0"


def _commit(reader: Reader) -> str:
    return str(json.loads(reader.type("margrave repository show -o json"))["head"])
