"""`margrave audit`: the record, and whether it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

VERIFY = "/api/v1/audit/verify"
WHOLE = {"entries": 2, "newest": "b" * 64, "broken_at": None, "pruned": None}
OLD = {**WHOLE, "pruned": {"entries": 9, "before": "2030-01-01T00:00:00.000Z"}}


@pytest.mark.parametrize(
    ("found", "words", "status", "says"),
    [
        (WHOLE, (), 0, "2 entries are whole; the newest is bbbb"),
        (WHOLE, ("--newest", "a" * 64), 0, "2 entries are whole"),
        (WHOLE, ("--newest", "c" * 64), 1, "the newest entries were taken away"),
        (OLD, ("--newest", "c" * 64), 1, "or it is older than 2030-01-01T00:00:00.000Z"),
        ({**WHOLE, "broken_at": 7}, (), 1, "entry 7 is not what was written"),
    ],
)
def test_verify(
    run: Run,
    controller: FakeController,
    found: dict[str, object],
    words: tuple[str, ...],
    status: int,
    says: str,
) -> None:
    """0 for a whole chain; 1 for a changed entry, or when the hash that was noted is gone."""
    controller.on("GET", VERIFY, body=found)
    controller.lists("/api/v1/audit", {"id": 2, "hash": "b" * 64}, {"id": 1, "hash": "a" * 64})
    ran = run("audit", "verify", *words)
    assert (ran.code, says in ran.out) == (status, True)
