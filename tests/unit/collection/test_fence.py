"""A node serves one runner, its newest call first."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _fence, _forget
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConflictError
from ansible_collections.margrave.edge.plugins.module_utils._fence import Entry, Fence, judge
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from hypothesis import example, given
from hypothesis import strategies as st

A, B = "aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000"
MARK = {"runner": A, "epoch": 2}
DAY = 24 * 3600
NOW = 1790000000


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


def _note(layout: Layout, name: str, seq: int, at: object, epoch: int = 1) -> None:
    """Write the record of an ended call, with this as its time."""
    _fence.enter(layout, name, Fence(A, epoch, seq), "delete")
    path = Path(layout.record_of(name))
    record = {**json.loads(path.read_text()), "result": {}, "at": at}
    path.write_text(json.dumps(record))


def _names(layout: Layout) -> list[str]:
    return sorted(path.name for path in Path(layout.records).iterdir())


def test_deleted_deployments_are_forgotten_after_a_month(tmp_path: Path) -> None:
    """The memory of a deleted deployment lasts thirty days, that of a living one as long as it."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    _note(layout, "gone", 1, NOW)
    _note(layout, "alive", 2, NOW)
    _note(layout, "newest", 2 + _forget.REMEMBERED_CALLS, NOW)
    for name in ("alive", "newest"):
        Path(layout.deployment(name).path).mkdir(parents=True)

    _forget.forget_old(layout, NOW + _forget.REMEMBERED_SECONDS)
    before = _names(layout)
    _forget.forget_old(layout, NOW + _forget.REMEMBERED_SECONDS + 1)

    assert before == ["alive", "gone", "newest"]
    assert _names(layout) == ["alive", "newest"]


@pytest.mark.parametrize(
    ("at", "now", "calls"),
    [
        (0, NOW, 500),
        (None, NOW, 500),
        (NOW, 0, 500),
        (NOW, NOW + 366 * DAY, 5),
    ],
    ids=["written in 1970", "without a time", "read in 1970", "after a leap of a year"],
)
def test_a_wrong_clock_is_no_reason_to_forget(
    tmp_path: Path, at: object, now: float, calls: int
) -> None:
    """Neither an implausible time nor a leap of the clock removes the record of a delete.

    The times of the file itself say nothing: its record does.
    """
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    _note(layout, "gone", 5, at)
    os.utime(layout.record_of("gone"), (0, 0))
    _note(layout, "alive", 5 + calls, NOW)
    Path(layout.deployment("alive").path).mkdir(parents=True)

    _forget.forget_old(layout, now)

    with pytest.raises(ConflictError, match=r"is older than call 1\.5"):
        _fence.let_in(layout, "gone", Fence(A, 1, 4), False, "install")


def test_a_call_older_than_a_forgotten_one_stays_refused(tmp_path: Path) -> None:
    """A runner that slept for months does not bring a deleted deployment back."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    _note(layout, "gone", 5, NOW)
    _note(layout, "alive", 500, NOW)
    Path(layout.deployment("alive").path).mkdir(parents=True)

    _forget.forget_old(layout, NOW + 31 * DAY)
    _fence.enter(layout, "alive", Fence(A, 1, 501), "update")

    assert _names(layout) == ["alive"]
    with pytest.raises(ConflictError, match=r"is older than call 1\.5") as refused:
        _fence.let_in(layout, "gone", Fence(A, 1, 4), False, "install")
    assert refused.value.code == "fence-passed"
    assert Entry.ENTER is _fence.let_in(layout, "new", Fence(A, 1, 502), False, "install")
    assert Entry.ENTER is _fence.let_in(layout, "gone", Fence(B, 2, 1), False, "install")


def test_what_an_earlier_epoch_left_is_forgotten_at_once(tmp_path: Path) -> None:
    """The mark refuses all calls of that epoch, so its records guard nothing."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    _note(layout, "gone", 5, 0)
    _note(layout, "newer", 6, 0, epoch=2)

    _forget.forget_old(layout, NOW)

    assert _names(layout) == ["newer"]


def test_drafts_and_files_that_vanish_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls for other deployments write their records while old ones are tidied away."""
    layout = Layout(str(tmp_path), str(tmp_path / "run"))
    _note(layout, "gone", 5, NOW)
    (tmp_path / "fences" / "other.tmp").write_text("{")
    os.utime(tmp_path / "fences" / "other.tmp", (0, 0))
    listed = os.listdir

    monkeypatch.setattr(os, "listdir", lambda path: [*listed(path), "vanished"])
    _forget.forget_old(layout, NOW + 31 * DAY)
    monkeypatch.undo()

    assert _names(layout) == ["gone", "other.tmp"]


STEPS = st.one_of(
    st.tuples(st.just("step"), st.sampled_from([-DAY, DAY, -NOW, 31 * DAY, 366 * DAY])),
    st.tuples(st.sampled_from(["install", "delete"]), st.integers(0, 3)),
    st.tuples(st.just("busy"), st.just(_forget.REMEMBERED_CALLS)),
)


@given(st.lists(STEPS, max_size=40))
@example([("delete", 0), ("delete", 0), ("step", 366 * DAY), ("delete", 1)])
@example([("delete", 0), ("delete", 0), ("busy", 100), ("step", 31 * DAY), ("delete", 1)])
def test_no_late_call_enters_however_the_clock_steps(steps: list[tuple[str, int]]) -> None:
    """Days back and forth, 1970, a leap of a year: only a call's number decides, and the newest
    call always enters."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        layout, clock, seq = Layout(folder, folder), float(NOW), 0
        newest: dict[str, int] = {}
        patch.setattr(_fence.time, "time", lambda: clock)
        for kind, value in steps:
            if kind == "step":
                clock = max(0.0, clock + value)
            elif kind == "busy":
                seq += value
            else:
                name, seq = f"deployment-{value}", seq + 1
                newest[name] = seq
                fence = Fence(A, 1, seq)
                assert Entry.ENTER is _fence.let_in(layout, name, fence, False, kind)
                _change(layout, name, kind, clock)
                _fence.close(layout, name, fence, kind, {})
            for name, last in newest.items():
                with pytest.raises(ConflictError):
                    _fence.let_in(layout, name, Fence(A, 1, last - 1), False, "install")


def _change(layout: Layout, name: str, kind: str, now: float) -> None:
    """Do what a call of the kind does to the folders."""
    folder = Path(layout.deployment(name).path)
    if kind == "install":
        folder.mkdir(parents=True, exist_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        os.utime(layout.record_of(name), (now, now))  # as the stepped clock would have it
        _forget.forget_old(layout, now)


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
