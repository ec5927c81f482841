"""`POST /sites/{site}/accept`: rewritten history is accepted up to a commit that exists."""

from __future__ import annotations

import pytest

from controller.parts import Parts
from tests.functional.controller.kit import ADMIN, Api, Runner, clear
from tests.support.works import git

UNKNOWN = "deadbeef" * 5


def _orders(harbor: Runner) -> list[str]:
    return [order["commit"] for order in harbor.beat().json["commands"]]


@pytest.mark.parametrize("commit", ["deadbeef", UNKNOWN])
def test_an_unknown_commit_is_refused(admin: Api, harbor: Runner, commit: str) -> None:
    """It would be a command that changes nothing, answered as if it did."""
    body = clear(admin.post("/sites/harbor/accept", json={"commit": commit}), 422)
    assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/commit", "unknown")]
    assert _orders(harbor) == []


def test_a_commit_of_main_is_sent_whole(admin: Api, harbor: Runner, parts: Parts) -> None:
    """The runner compares whole ids: an abbreviation is completed."""
    parts.sites.create({"name": "depot"}, ADMIN)
    head = str(parts.repository.head())
    before = git(parts.repository.folder, "rev-parse", "main~1").strip()
    assert admin.post("/sites/harbor/accept", json={"commit": head[:7]}).status_code == 202
    assert admin.post("/sites/harbor/accept", json={"commit": before}).status_code == 202
    assert _orders(harbor) == [head, before]


def test_a_commit_outside_of_main_is_refused(admin: Api, harbor: Runner, parts: Parts) -> None:
    """A commit that main does not lead to ends no halt; the answer names where main is."""
    folder = parts.repository.folder
    lost = git(folder, "commit-tree", "-m", "lost", "main^{tree}").strip()
    body = clear(admin.post("/sites/harbor/accept", json={"commit": lost}), 422)
    assert str(parts.repository.head()) in body["errors"][0]["cure"]
    assert _orders(harbor) == []


def test_the_commit_that_halts_the_site_is_accepted(admin: Api, harbor: Runner) -> None:
    """The runner has seen it, even where the controller has not fetched it yet."""
    halted = {"reason": "history was rewritten", "commit": UNKNOWN, "since": None}
    harbor.report("site", {"halted": halted})
    assert admin.post("/sites/harbor/accept", json={"commit": UNKNOWN[:12]}).status_code == 202
    assert _orders(harbor) == [UNKNOWN]
