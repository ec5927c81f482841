# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Go back to a release that is still on the node, and prove that it is healthy."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils import _release, _stage
from ansible_collections.margrave.edge.plugins.module_utils._apply import (
    fetched,
    in_words,
    note_baseline,
    runs,
    runs_already,
    switch_to,
    without_unstable,
    would,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._journal import DONE, Journal
from ansible_collections.margrave.edge.plugins.module_utils._release import Release


def rollback(call: Call) -> None:
    """The release that is meant runs healthy; `changed` only when something had to be done."""
    seen = call.observe(closely=True)
    runs(call, seen)
    call.differs = in_words(call, seen)
    target = _target(call, seen)
    prove = call.request.prove > 0
    if not prove and runs_already(call, seen, target.release):
        note_baseline(call, target, seen)
        # Refusing what runs would not stop it: who asks is only told.
        _stage.check_policy(call, target, refuse=False)
        call.result.state, call.result.phase = "INSTALLED", DONE
        return
    _stage.check_policy(call, target)
    if call.check:
        would(call, seen, target)
        return
    # What it took when it was proven holds, unless the call says otherwise.
    target.health = dict(call.request.health) or target.health
    call.begin(
        "prefetch",
        wanted={"release": target.release, "revision": target.revision},
        current=seen.current.release if seen.current else None,
    )
    with call.result.timed("prefetch"):
        seen = fetched(call, seen, target)
    switch_to(call, without_unstable(call, seen, target) if prove else seen, target)


def _target(call: Call, seen: Observation) -> Release:
    """Which release is meant: the named one, the one of the named revision, or the one before."""
    request = call.request
    proven = {one.release: one for one in _release.all_of(call.folder) if one.proven}
    if request.to_release != "previous":
        found = proven.get(request.to_release)
    elif request.revision is not None:
        found = _of_revision(call, seen, proven)
    elif request.release is not None:
        found = proven.get(request.release)
    else:
        found = seen.current if _went_back_already(call, seen) else seen.previous
    if found is None:
        raise ConfigError(
            "no-release",
            "the release to go back to is not on this node, or never ran healthy here",
            "install the wanted version: its content travels with the call",
        )
    return found


def _of_revision(call: Call, seen: Observation, proven: dict[str, Release]) -> Release | None:
    """The release of the revision; of a revision that failed here, what ran healthy before it."""
    release = call.request.release or ""
    if release in proven:
        return proven[release]
    # The same revision with other secrets is another release: the newest that ran is meant.
    for one in (seen.current, seen.previous):
        if one is not None and one.revision == call.request.revision:
            return one
    return seen.current


def _went_back_already(call: Call, seen: Observation) -> bool:
    """Whether the last call was a rollback that came there: going back twice is going back once.

    Its links tell, where it was cut off after them, or a power cut took the word that it was done.
    """
    notes = Journal.stored(call.folder) or {}
    wanted = (notes.get("wanted") or {}).get("release")
    came_there = notes.get("phase") == DONE or notes.get("current") != wanted
    last = notes.get("kind") == "rollback" and came_there
    return bool(last and seen.current and wanted == seen.current.release)
