"""Who begins on a node, and who waits for a turn."""

from __future__ import annotations

from margrave.lifecycle import Kind, Outcome
from margrave.planning import SitePlan, Step, Waiting
from runner.reconcile.turns import in_turn


def step(name: str, node: str = "a", **changes: object) -> Step:
    """An install that is due."""
    return Step(name, node, Kind.INSTALL, "wanted", **changes)  # type: ignore[arg-type]


def due(plan: SitePlan) -> list[str]:
    """What may begin."""
    return [one.deployment for one in plan.due]


def test_a_node_gets_so_much_at_once_in_the_order_of_the_plan() -> None:
    """What is urgent stands first; another node is none of its business."""
    plan = SitePlan((step("1"), step("2"), step("3", "b"), step("4")))
    assert due(in_turn(plan, (), 2)) == ["1", "2", "3"]
    assert due(in_turn(plan, ["a"], 2)) == ["1", "3"]
    assert due(in_turn(plan, ["a", "a", "b"], 2)) == ["3"]


def test_who_waits_for_a_turn_is_told_so_in_the_same_words_each_time() -> None:
    """Words that change would be reported with every call that ends."""
    plan = SitePlan((step("1"), step("2")))
    told = {in_turn(plan, ["a"] * number, 2).steps[1].waiting for number in (1, 2, 3)}
    assert told == {Waiting("operation", detail="2 at once on a node (execute.per_node)")}


def test_what_is_not_due_takes_no_turn() -> None:
    """Neither what waits for something else nor what only writes an outcome."""
    waiting = step("1", waiting=Waiting("window"))
    written = Step("2", "a", None, "held", outcome=Outcome.HELD)
    plan = in_turn(SitePlan((waiting, written, step("3"))), (), 1)
    assert due(plan) == ["3"]
    assert plan.steps[:2] == (waiting, written)


def test_what_overtakes_a_call_takes_its_place() -> None:
    """A full node makes nobody wait for the very call that is to give way; nor is it fuller."""
    plan = in_turn(SitePlan((step("1", overtakes=True), step("2"), step("3"))), ["a"], 2)
    assert due(plan) == ["1", "2"]
    assert due(in_turn(plan, ["a", "a"], 2)) == ["1"]
