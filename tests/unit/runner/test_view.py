"""What the planner sees of the runner's records: locks, heals, data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from margrave.lifecycle import Outcome, State
from runner.reconcile.view import (
    HEAL_BUDGET,
    heal_after,
    lock_end,
    lock_ended,
    lock_reason,
    may_keep_data,
)
from runner.store.values import Placement, SiteState

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_the_heal_budget_opens_when_the_oldest_heal_is_over() -> None:
    """Five in five minutes."""
    heals = [(NOW - timedelta(seconds=60 * n)).isoformat() for n in range(HEAL_BUDGET - 1, -1, -1)]
    assert heal_after(heals[1:], NOW) is None
    assert heal_after(heals, NOW) == NOW + timedelta(minutes=1)
    assert heal_after(heals, NOW + timedelta(minutes=2)) is None


def test_a_lock_with_an_end_ends() -> None:
    """Without anybody's help."""
    until = (NOW + timedelta(hours=1)).isoformat()
    held = SiteState(locked={"owner": "eva", "reason": "inventory", "until": until})
    assert lock_reason(held, NOW) == "inventory (eva)"
    assert lock_end(held) == NOW + timedelta(hours=1)
    assert lock_reason(held, NOW + timedelta(hours=2)) == ""
    assert [lock_ended(held, NOW + timedelta(hours=hours)) for hours in (0, 1)] == [False, True]
    endless = SiteState(locked={"owner": "eva", "reason": "inventory", "until": None})
    assert (lock_end(endless), lock_ended(endless, NOW)) == (None, False)
    assert "stood down" in lock_reason(SiteState(stood_down="other"), NOW)


@pytest.mark.parametrize("off", [timedelta(hours=6), timedelta(days=1)])
def test_heals_of_a_clock_that_was_wrong_spend_no_budget(off: timedelta) -> None:
    """They would until the clock comes there again."""
    heals = [(NOW + off + timedelta(seconds=n)).isoformat() for n in range(HEAL_BUDGET)]
    assert heal_after(heals, NOW) is None


@pytest.mark.parametrize(
    ("changes", "looked", "may"),
    [
        ({}, 3, False),
        ({}, 1, True),
        ({}, None, True),
        ({"keeps_data": True}, 3, True),
        ({"state": State.INSTALLING}, 1, True),
        ({"state": State.INSTALLING}, 3, True),
        ({"state": State.DELETING}, 1, False),
        ({"state": State.DELETING, "keeps_data": True}, 3, True),
        ({"state": State.PENDING}, None, False),
        ({"state": State.DELETED}, None, False),
        ({"state": State.DELETED, "keeps_data": True}, None, True),
    ],
)
def test_what_was_not_looked_at_since_may_have_written_data(
    changes: dict[str, Any], looked: int | None, may: bool
) -> None:
    """A drain in the minute after an install does not take it away from its new volume."""
    stands = {"state": State.INSTALLED, **changes}
    placement = Placement("d", "n", 1, "shop", outcome=Outcome.SUCCEEDED, since=NOW, **stands)
    assert may_keep_data(placement, looked, changed=2) is may
