# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fence: a node serves one runner, its newest call, and repeats what it answered.

`judge` is pure; around it stand the two files that it judges by.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConflictError
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    TEMPORARY,
    make_folder,
    read_json,
    write_json,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._record import record


class Entry(Enum):
    """What a call may do."""

    ENTER = "enter"  # do the work
    FINISH = "finish"  # this very call began and never ended: finish it
    RECORDED = "recorded"  # this very call ended: answer what it answered


@record
class Fence:
    """Who calls, in which reign, and which of its calls this is."""

    runner: str
    epoch: int
    seq: int

    @property
    def order(self) -> tuple[int, int]:
        """Epoch first, then sequence."""
        return (self.epoch, self.seq)

    def as_dict(self) -> dict:
        """As it is stored."""
        return {"runner": self.runner, "epoch": self.epoch, "seq": self.seq}


def judge(
    mark: dict | None,
    record: dict | None,
    fence: Fence | None,
    force: bool,
    request: str | None = None,
) -> Entry:
    """May this call work here? Raises ConflictError when not."""
    if fence is None:
        _unfenced(mark, force)
        return Entry.ENTER
    if mark is not None:
        _claimed(mark, fence)
    if record is None:
        _refuse_forgotten(mark, fence)
        return Entry.ENTER
    last = (record["epoch"], record["seq"])
    if fence.order < last:
        raise _passed(fence, last, "which this node has seen for the deployment")
    if fence.order > last:
        return Entry.ENTER
    if request and record.get("request") not in (None, request):
        # A runner whose memory was set back gives numbers a second time: the answer that is noted
        # belongs to another wish than the one that is made now.
        raise ConflictError(
            "fence-passed",
            f"call {fence.epoch}.{fence.seq} was another one, {record['request']}",
            "nothing was done; a runner whose state folder was restored takes the site over anew",
        )
    return Entry.FINISH if record.get("result") is None else Entry.RECORDED


def _refuse_forgotten(mark: dict | None, fence: Fence) -> None:
    """Refuse a call that may be older than one whose record was removed."""
    if mark is None or "forgotten" not in mark:
        return
    last = (mark["epoch"], mark["forgotten"])
    if fence.order <= last:
        raise _passed(fence, last, "and this node no longer has the records of calls up to there")


def _passed(fence: Fence, last: tuple[int, int], reason: str) -> ConflictError:
    return ConflictError(
        "fence-passed",
        f"call {fence.epoch}.{fence.seq} is older than call {last[0]}.{last[1]}, {reason}",
        "nothing was done; a runner that was asleep drops its old work and plans anew",
    )


def _unfenced(mark: dict | None, force: bool) -> None:
    if mark is not None and not force:
        raise ConflictError(
            "claimed",
            f"this node belongs to runner {mark['runner']} (epoch {mark['epoch']})",
            "change the deployment in Git, or say force: true",
        )


def _claimed(mark: dict, fence: Fence) -> None:
    if fence.epoch < mark["epoch"] or (
        fence.epoch == mark["epoch"] and fence.runner != mark["runner"]
    ):
        raise ConflictError(
            "other-runner",
            f"this node belongs to runner {mark['runner']} with epoch {mark['epoch']},"
            f" not to {fence.runner} with epoch {fence.epoch}",
            "stop one of the two runners, or take the site over: margrave runner takeover",
        )


def judge_stored(
    layout: Layout, deployment: str, fence: Fence | None, force: bool, request: str | None = None
) -> Entry:
    """Judge by what the node has stored."""
    record = read_json(layout.record_of(deployment))
    return judge(read_json(layout.mark), record, fence, force, request)


def told(layout: Layout) -> dict | None:
    """Whose the node is, and the last call of that reign that it has seen; None when nobody's."""
    mark = read_json(layout.mark)
    if mark is None:
        return None
    seen = [mark.get("forgotten", 0), newest(records(layout).values(), mark["epoch"])]
    return {"runner": mark["runner"], "epoch": mark["epoch"], "seq": max(seen)}


def records(layout: Layout) -> dict[str, dict]:
    """Return the readable record of each deployment.

    Calls for other deployments write and rename theirs meanwhile, so a name may be a draft or gone.
    """
    try:
        names = os.listdir(layout.records)
    except FileNotFoundError:
        return {}
    stored = {
        name: read_json(layout.record_of(name)) for name in names if not name.endswith(TEMPORARY)
    }
    return {name: record for name, record in stored.items() if record is not None}


def newest(records: Iterable[dict], epoch: int) -> int:
    """Return the highest sequence number of the epoch."""
    return max((each.get("seq", 0) for each in records if each.get("epoch") == epoch), default=0)


def let_in(
    layout: Layout,
    deployment: str,
    fence: Fence | None,
    force: bool,
    kind: str,
    request: str | None = None,
) -> Entry:
    """Judge, and claim the node for a call that is let in, before any other call is judged.

    Calls for other deployments have other locks: between a look at the node's mark and its writing
    a higher epoch could come in, and would lose the node again to the lower one.
    """
    if fence is None:
        return judge_stored(layout, deployment, fence, force, request)
    with alone(layout):
        entry = judge_stored(layout, deployment, fence, force, request)
        if entry is Entry.ENTER:
            enter(layout, deployment, fence, kind, request)
    return entry


@contextmanager
def alone(layout: Layout) -> Iterator[None]:
    """No other call of the node is judged meanwhile; the lock is a folder's, and leaves no file."""
    make_folder(layout.records)
    handle = os.open(layout.records, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def enter(
    layout: Layout, deployment: str, fence: Fence, kind: str, request: str | None = None
) -> None:
    """Claim the node and note the call, durably, before the first change."""
    make_folder(layout.records)
    mark = {"runner": fence.runner, "epoch": fence.epoch}
    stored = read_json(layout.mark) or {}
    if any(stored.get(name) != value for name, value in mark.items()):
        write_json(layout.mark, mark)
    write_json(
        layout.record_of(deployment),
        _record(fence, kind, request, None),
    )


def close(
    layout: Layout,
    deployment: str,
    fence: Fence,
    kind: str,
    result: dict,
    request: str | None = None,
) -> None:
    """Note the result, so that the same call gets the same answer.

    What went well may be made again after a power cut, and finds itself done. A failure is on the
    disk at once: made again, it would put what runs at risk a second time.
    """
    noted = _record(fence, kind, request, result)
    write_json(layout.record_of(deployment), noted, at_once=bool(result.get("error")))


def _record(fence: Fence, kind: str, request: str | None, result: dict | None) -> dict:
    now = int(time.time())
    return {**fence.as_dict(), "kind": kind, "request": request, "result": result, "at": now}


def recorded_result(layout: Layout, deployment: str) -> dict:
    """What the noted call answered."""
    record = read_json(layout.record_of(deployment)) or {}
    return record.get("result") or {}
