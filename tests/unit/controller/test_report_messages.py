"""What a transition of a placement is about."""

from __future__ import annotations

from typing import Any

from controller.reports.messages import PlacementData

OLDER, NEWER = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def told(**fields: Any) -> PlacementData:
    """An update that has ended while Git wanted something newer already."""
    return PlacementData.model_validate(
        {
            "deployment": "0a4293a7-cb7f-45af-bc46-54cc3fdb64a1",
            "node": "harbor-1",
            "state": "INSTALLED",
            "outcome": "pending",
            "wanted_revision": NEWER,
            "wanted_version": "1.1.0",
            "from": "UPDATING",
            "to": "INSTALLED",
            **fields,
        }
    )


def test_history_names_what_the_operation_attempted() -> None:
    """An operation that ends after the next push was about its own revision, not about that one."""
    ended = told(attempted_revision=OLDER, attempted_version="1.0.0")
    assert ended.attempted == (OLDER, "1.0.0")


def test_a_transition_without_an_operation_is_about_what_is_wanted() -> None:
    """PENDING comes before any operation."""
    assert told().attempted == (NEWER, "1.1.0")
