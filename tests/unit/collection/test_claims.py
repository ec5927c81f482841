"""Data of charts is found again by what it says of itself."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._claims import MADE_BY, Claims
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT

NOTHING: Any = None
KEPT = [("shop", "disk-db-[0-9]*")]


@pytest.mark.parametrize(
    ("claim", "ours"),
    [
        ({"labels": {DEPLOYMENT: "mine"}}, True),
        ({"labels": {DEPLOYMENT: "another"}}, False),
        ({"annotations": {MADE_BY: "margrave-mine-web"}}, True),
        ({"annotations": {MADE_BY: "margrave-minery-web"}}, False),
        ({"name": "disk-db-0"}, True),
        ({"name": "disk-db-0", "namespace": "other"}, False),
        ({}, False),
    ],
)
def test_whose_a_claim_is(claim: dict[str, Any], ours: bool) -> None:
    """By the label of one that was kept, Helm's own note, or a release that is still here."""
    claims = Claims(NOTHING, NOTHING, "mine", "margrave-mine-")

    assert claims.is_ours({"name": "data", "namespace": "shop", **claim}, KEPT) is ours
