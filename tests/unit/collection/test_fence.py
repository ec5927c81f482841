"""A node serves one runner, its newest call first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _fence
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConflictError
from ansible_collections.margrave.edge.plugins.module_utils._fence import Entry, Fence, judge
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

A, B = "aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000"
MARK = {"runner": A, "epoch": 2}


def _record(epoch: int, seq: int, result: Any = None) -> dict[str, Any]:
    return {"runner": A, "epoch": epoch, "seq": seq, "result": result}


@pytest.mark.parametrize(
    ("mark", "record", "fence", "entry"),
    [
        (None, None, Fence(A, 1, 1), Entry.ENTER),
        (MARK, None, Fence(A, 2, 1), Entry.ENTER),
        (MARK, None, Fence(B, 3, 1), Entry.ENTER),
        (MARK, _record(2, 5), Fence(A, 2, 6), Entry.ENTER),
        (MARK, _record(2, 5), Fence(B, 3, 1), Entry.ENTER),
        (MARK, _record(2, 5), Fence(A, 2, 5), Entry.FINISH),
        (MARK, _record(2, 5, {"state": "FAILED"}), Fence(A, 2, 5), Entry.RECORDED),
        (None, None, None, Entry.ENTER),
    ],
    ids=[
        "a first runner claims",
        "the same runner works",
        "a higher epoch claims",
        "a higher sequence enters",
        "a higher epoch beats any sequence",
        "the same call that never ended is finished",
        "the same call that ended is answered",
        "a person works on a node that nobody claimed",
    ],
)
def test_who_is_let_in(mark: Any, record: Any, fence: Fence | None, entry: Entry) -> None:
    """Epoch first, then sequence, decide who works."""
    assert entry is judge(mark, record, fence, force=False)


@pytest.mark.parametrize(
    ("record", "fence", "code"),
    [
        (None, Fence(A, 1, 99), "other-runner"),
        (None, Fence(B, 2, 99), "other-runner"),
        (_record(2, 5), Fence(A, 2, 4), "fence-passed"),
        (None, None, "claimed"),
    ],
    ids=["lower epoch", "same epoch of another runner", "lower sequence", "a person"],
)
def test_who_is_refused(record: Any, fence: Fence | None, code: str) -> None:
    """Whoever is refused is told by which claim."""
    with pytest.raises(ConflictError) as refused:
        judge(MARK, record, fence, force=False)

    assert code == refused.value.code


def test_a_number_that_was_given_twice_is_told_from_a_call_made_again() -> None:
    """A restored runner's call gets no answer that belongs to another wish."""
    ended = {**_record(2, 5, {"state": "INSTALLED"}), "request": "first"}

    assert Entry.RECORDED is judge(MARK, ended, Fence(A, 2, 5), False, "first")
    assert Entry.RECORDED is judge(MARK, _record(2, 5, {}), Fence(A, 2, 5), False, "first")
    with pytest.raises(ConflictError, match="was another one, first") as refused:
        judge(MARK, ended, Fence(A, 2, 5), False, "second")
    assert refused.value.code == "fence-passed"


def test_whose_the_node_is_is_told_with_the_last_call(tmp_path: Path) -> None:
    """The highest number of the present reign; nothing of a node that is nobody's."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    assert _fence.told(layout) is None

    _fence.enter(layout, "one", Fence(A, 1, 70), "install")
    _fence.enter(layout, "two", Fence(B, 2, 7), "install")
    _fence.enter(layout, "three", Fence(B, 2, 9), "install")

    assert _fence.told(layout) == {"runner": B, "epoch": 2, "seq": 9}


def test_a_person_can_insist() -> None:
    """With force a person works on a claimed node."""
    assert Entry.ENTER is judge(MARK, _record(2, 5), None, force=True)


def test_call_is_remembered_with_its_result(tmp_path: Path) -> None:
    """What a call answered can be answered again, also by another process."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    fence = Fence(A, 1, 7)

    _fence.enter(layout, "one", fence, "install")
    entered = _fence.judge_stored(layout, "one", fence, force=False)
    _fence.close(layout, "one", fence, "install", {"state": "INSTALLED"})

    assert Entry.FINISH is entered
    assert Entry.RECORDED is _fence.judge_stored(layout, "one", fence, force=False)
    assert _fence.recorded_result(layout, "one") == {"state": "INSTALLED"}


def test_deleted_deployments_are_forgotten_after_a_month(tmp_path: Path) -> None:
    """The memory of a deleted deployment lasts thirty days, that of a living one as long as it."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    for name in ("gone", "alive"):
        _fence.enter(layout, name, Fence(A, 1, 1), "install")
        os.utime(layout.record(name), (1000, 1000))
    (tmp_path / "deployments" / "alive").mkdir(parents=True)

    records = tmp_path / "fences"
    _fence.forget_old(layout, 1000 + _fence.REMEMBERED_SECONDS)
    before = sorted(one.name for one in records.iterdir())
    _fence.forget_old(layout, 1001 + _fence.REMEMBERED_SECONDS)

    assert before == ["alive", "gone"]
    assert [one.name for one in records.iterdir()] == ["alive"]


@pytest.mark.parametrize(("error", "at_once"), [(None, False), ({"code": "not-healthy"}, True)])
def test_a_failure_is_on_the_disk_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: dict | None, at_once: bool
) -> None:
    """After a power cut the same call would else try again what has just failed."""
    asked: list[bool] = []
    monkeypatch.setattr(_fence, "write_json", lambda *_, at_once: asked.append(at_once))

    fence = Fence(A, 1, 1)
    _fence.close(Layout(str(tmp_path)), "one", fence, "update", {"error": error})

    assert asked == [at_once]
