"""Windows, and what they gate."""

from __future__ import annotations

from typing import Any

from margrave.documents.site import read_site
from margrave.lifecycle import Kind
from margrave.planner import plan
from tests.unit.margrave.making import NOW, nodes
from tests.unit.margrave.test_planner import NEW, failed, runs, told, view


def test_windows_gate_updates_but_not_going_back() -> None:
    """Outside the window an update waits until it opens; a rollback does not wait."""
    night = read_site(b'windows: [{cron: "0 2 * * *", duration: 1h}]\n')
    [step, _] = plan(view(runs("n1"), runs("n2"), document=night)).steps
    back = plan(view(failed("n1", attempt=2), document=night)).steps

    assert step.waiting is not None
    assert (step.waiting.reason, step.waiting.until) == ("window", NOW.replace(day=3, hour=2))
    assert told(back)[0] == ("n1", Kind.ROLLBACK, None)


def test_urgent_passes_the_windows() -> None:
    """With a reason, work starts outside them."""
    night = read_site(b'windows: [{cron: "0 2 * * *", duration: 1h}]\n')
    ours = {"priority": "urgent", "reason": "line stands still"}

    assert plan(view(runs("n1"), document=night, ours=ours)).steps[0].due


def test_a_delete_that_git_causes_has_the_windows_of_its_deployment() -> None:
    """Of its own document and of its site; gone from Git the site's are left."""
    drained = nodes("n1", drain=True)
    own = {"windows": [{"cron": "0 2 * * *", "duration": "1h"}]}
    urgent = {**own, "priority": "urgent", "reason": "the disk dies"}
    night = read_site(b'windows: [{cron: "0 3 * * *", duration: 1h}]\n')

    def when(ours: dict[str, Any], **changes: Any) -> Any:
        [step] = plan(view(runs("n1", NEW), nodes=drained, ours=ours, **changes)).steps
        assert step.kind is Kind.DELETE
        return step.waiting and step.waiting.until

    assert when(own) == NOW.replace(day=3, hour=2)
    assert when(urgent) is None
    assert when(urgent, document=night) is None
    assert when({}, document=night) == NOW.replace(day=3, hour=3)
    assert when(own, document=night, gone=True) == NOW.replace(day=3, hour=3)
    assert when(own, gone=True) is None
