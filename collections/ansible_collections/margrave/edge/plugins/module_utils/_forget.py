# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expiry of the records of deleted deployments."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils import _fence
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    read_json,
    remove_file,
    write_json,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout

# A deployment that was deleted is remembered, so that a late call cannot bring it back.
REMEMBERED_SECONDS = 30 * 24 * 3600
# Clocks of edge nodes leap by months once a time server answers, so age alone proves nothing: the
# runner must also have made this many calls since.
REMEMBERED_CALLS = 100
# 2025-01-01: no release existed before, so an earlier time is that of a clock that was never set.
EARLIEST = 1735689600


def forget_old(layout: Layout, now: float) -> None:
    """Remove records of deployments that were deleted long ago.

    Before they go, the mark gets their highest number: calls up to there stay refused, however
    wrong the clock was that made them look old.
    """
    with _fence.alone(layout):
        mark = read_json(layout.mark)
        if mark is None:
            return
        records, present = _fence.records(layout), set(layout.known())
        newest = _fence.newest(records.values(), mark["epoch"])
        expired = {
            name: record
            for name, record in records.items()
            if name not in present and _is_expired(record, mark["epoch"], newest, now)
        }
        forgotten = max(mark.get("forgotten", 0), _fence.newest(expired.values(), mark["epoch"]))
        if forgotten > mark.get("forgotten", 0):
            write_json(layout.mark, {**mark, "forgotten": forgotten})
        for name in expired:
            remove_file(layout.record_of(name))


def _is_expired(record: dict, epoch: int, newest: int, now: float) -> bool:
    """Return whether the record of a deleted deployment is not needed any more."""
    if record["epoch"] != epoch:
        return bool(record["epoch"] < epoch)  # the mark refuses all calls of an earlier epoch
    at = record.get("at")
    if not isinstance(at, int) or at < EARLIEST:
        return False  # a missing or wrong time is no evidence of age
    return now - at > REMEMBERED_SECONDS and newest - record["seq"] >= REMEMBERED_CALLS
