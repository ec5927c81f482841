"""How many refusals of a caller are written to the audit."""

from __future__ import annotations

from controller.access.refusal_budget import BURST, EVERY, RefusalBudget


def test_of_many_refusals_the_first_are_written_and_the_others_counted() -> None:
    """The next that is written after a while has their number, and each caller an own budget."""
    now = [0.0]
    budget = RefusalBudget(lambda: now[0])
    assert [budget.take("ada") for _ in range(BURST + 7)] == [0] * BURST + [None] * 7
    assert budget.take("grace") == 0
    now[0] += EVERY
    assert [budget.take("ada"), budget.take("ada")] == [7, None]
    now[0] += EVERY
    assert budget.take("ada") == 1
