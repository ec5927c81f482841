# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The story of an operation: fetch everything, switch, prove health, else go back.

Whatever an earlier call left half done, this one starts from what is there: the release that is
`current` was healthy, so it is what is gone back to; all else is made so again from the model.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import (
    _baseline,
    _images,
    _release,
    _stage,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._driver import same_profile
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    EdgeError,
    InternalError,
    translated,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    point,
    remove_file,
    remove_tree,
)
from ansible_collections.margrave.edge.plugins.module_utils._journal import DONE, GOING_BACK
from ansible_collections.margrave.edge.plugins.module_utils._record import replace
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._switch import make_run


def apply(call: Call) -> None:
    """Install or update: the wanted release runs healthy, or what ran before does."""
    archives = _stage.contents(call)
    same_profile(call.driver.profile, call.stored_profile())
    seen = call.observe(closely=True)
    runs(call, seen)
    _stage.refuse_reuse(call)
    call.differs = in_words(call, seen)
    if _was_going_back(call, seen):
        _finish_going_back(call, seen)
    current = seen.current
    prove = call.request.prove > 0
    if current and not prove and runs_already(call, seen, call.request.release):
        _stage.check_policy(call, current)
        if call.check or not _images.is_due(current):
            _keep_running(call, seen, current)
            return
    if call.check:
        would(call, seen, _stage.rehearse(call, archives))
        return
    make_folder(call.folder.path)
    call.begin(
        "prefetch",
        wanted={"release": call.request.release, "revision": call.request.revision},
        current=seen.current.release if seen.current else None,
    )
    with call.result.timed("prefetch"):
        release = _stage.stage(call, seen, archives)
        seen = fetched(call, seen, release)
        if not _is_current(seen, release):
            release.store(call.folder)
    if (
        current
        and not prove
        and runs_already(call, seen, release.release)
        and not _images.differ(current, release)
    ):
        _keep_running(call, seen, current, release)
        call.begin(DONE)
        return
    switch_to(call, without_unstable(call, seen, release), release)


def without_unstable(call: Call, seen: Observation, wanted: Release) -> Observation:
    """Return the node's state without an unproven release that did not stay healthy.

    It is current no more, so that a call that fails goes back to the proven release, or, where
    there is none, lets nothing run.
    """
    request, current = call.request, seen.current
    if current is None or request.proven in (None, current.release):
        return seen
    again = request.prove and current.release == wanted.release
    if not again and not call.driver.disturbances(current, seen.seen, _baseline_of(call, current)):
        return seen
    good = _release.load(call.folder, request.proven or None)
    if good is not None and good.proven:
        point(call.folder.path, {"current": f"releases/{good.release}"})
        return replace(seen, current=good)
    remove_file(call.folder.link("current"))
    return replace(seen, current=None)


def _baseline_of(call: Call, release: Release) -> _baseline.Baseline | None:
    return _baseline.load(call.layout, call.request.deployment, release.release)


def note_baseline(call: Call, release: Release, seen: Observation | None = None) -> None:
    """Note how containers stand now that a release is healthy; what was `seen` may be noted."""
    if seen is not None and (call.check or _baseline_of(call, release)):
        return
    with contextlib.suppress(EdgeError):  # whoever watches the release begins anew
        counts = call.driver.restarts(release, seen.seen if seen else None)
        _baseline.store(call.layout, call.request.deployment, release.release, counts)


def _keep_running(
    call: Call, seen: Observation, current: Release, noted: Release | None = None
) -> None:
    """Answer for a release that runs as it should, and note what the call says of it anew."""
    note_baseline(call, current, seen)
    changed = _stage.note_inputs(call, current)
    release = noted or current
    if not call.check and (changed or noted):
        release.store(call.folder)
    _says(call, release)
    call.result.changed = changed
    call.result.state, call.result.phase = "INSTALLED", DONE


def fetched(call: Call, seen: Observation, release: Release) -> Observation:
    """How it stands when all images are here: a look from before a download tells of the past."""
    if not call.driver.fetch(release):
        return seen
    return replace(seen, seen=call.driver.look(closely=True))


def runs(call: Call, seen: Observation) -> None:
    """Say in the answer what runs now: true until the switch."""
    result, current, previous = call.result, seen.current, seen.previous
    result.next_revision = seen.following.revision if seen.following else None
    result.revision = current.revision if current else None
    result.version = current.version if current else None
    result.release = current.release if current else None
    result.previous_revision = previous.revision if previous else None
    result.health = call.driver.health(current, seen.seen)
    if current:
        result.images = current.references()
        for name in current.components:
            result.component(name, "INSTALLED")


def in_words(call: Call, seen: Observation) -> list[str]:
    """How what runs differs from its release, a sentence each."""
    found = call.driver.drift(seen.current, seen.seen) if seen.current else []
    return [f"{one.component}.{one.service}: {one.what}, {one.detail}" for one in found]


def runs_already(call: Call, seen: Observation, release: str | None) -> bool:
    """Whether the wanted release runs as it should and no call was cut off: nothing to do."""
    current = seen.current
    if current is None or current.release != release or seen.unfinished:
        return False
    return not call.driver.drift(current, seen.seen) and call.result.health == "healthy"


def changes(call: Call, seen: Observation, release: Release) -> bool:
    """Whether making the release run is more than a proof: another one runs, or it has drifted."""
    current = seen.current
    if current is None or not _is_current(seen, release) or _images.differ(current, release):
        return True
    return bool(call.driver.drift(current, seen.seen))


def would(call: Call, seen: Observation, release: Release) -> None:
    """Check mode's answer: what the call would end with."""
    call.driver.check_images(release)
    result = call.result
    result.changed = changes(call, seen, release)
    result.state, result.phase, result.health = "INSTALLED", "check", "healthy"
    if seen.current is not None and not _is_current(seen, release):
        result.previous_revision = seen.current.revision
    if seen.following is not None and seen.following.release == release.release:
        result.next_revision = None
    _says(call, release)


def _says(call: Call, release: Release) -> None:
    """Say in the answer that this release runs."""
    result = call.result
    result.revision, result.version = release.revision, release.version
    result.release, result.images = release.release, release.references()
    result.components = []
    for name in release.components:
        result.component(name, "INSTALLED")


def switch_to(call: Call, seen: Observation, release: Release) -> None:
    """Make a release that is ready run; when it fails, go back to the one that was proven."""
    call.safe_point()
    changed = changes(call, seen, release)
    call.begin("switch")
    call.result.components = []
    call.result.changed = changed
    try:
        make_run(call, release, seen.seen)
    except Exception as found:  # noqa: BLE001 - whatever it is, what ran before has to come back
        error = translated(found)
        if not error.ends:
            raise error from None  # another call finishes, from the journal
        call.stoppable = False
        if seen.current is None or changed_release(seen.current, release):
            _go_back(call, seen, error)
        else:
            call.result.health = "degraded"
        raise error from None
    call.stoppable = False
    try:
        _commit(call, seen, release)
    except Exception as found:  # noqa: BLE001 - a full disk as well as a defect
        # It runs healthy: there is nothing to go back from, and the next call makes it current.
        error = translated(found)
        error.ends = False
        _says(call, release)
        raise error from None


def changed_release(current: Release, release: Release) -> bool:
    """Whether there is something to go back to: another release, or this one's former images."""
    return current.release != release.release or _images.differ(current, release)


def _is_current(seen: Observation, release: Release) -> bool:
    return seen.current is not None and seen.current.release == release.release


def _commit(call: Call, seen: Observation, release: Release) -> None:
    """From here on this release is the one to go back to."""
    call.begin("commit")
    release.proven = True
    release.store(call.folder)
    note_baseline(call, release)
    links = {"current": f"releases/{release.release}"}
    before = _before(call, seen, release)
    if before is not None:
        links = {"previous": f"releases/{before}", **links}
    point(call.folder.path, links)
    if call.folder.linked("next") == release.release:
        remove_file(call.folder.link("next"))
    call.driver.proven()
    # A tag may have moved under the same release: the image that it left is not needed any more.
    tidy(call, [seen.current] if seen.current and _is_current(seen, release) else [])
    call.begin(DONE)
    runs(call, call.noted())
    call.result.state, call.result.health = "INSTALLED", "healthy"


def _before(call: Call, seen: Observation, release: Release) -> str | None:
    """Return the release that becomes the one to go back to; None leaves the one that is noted.

    Only a proven release does. Where none is, what ran undisturbed until now is the best there is.
    """
    before = call.request.proven or (seen.current.release if seen.current else None)
    if before is None or before == release.release:
        return None
    return before if _release.load(call.folder, before) else None


def tidy(call: Call, replaced: Iterable[Release] = ()) -> None:
    """Drop releases that are neither current, previous nor next, with their images.

    Containers that an older version made mount files of their release's folder: such a folder
    stays as long as one of them is there.
    """
    kept = {call.folder.linked(name) for name in ("current", "previous", "next")}
    doomed = set(call.folder.kept()) - kept
    doomed -= call.driver.mounted(doomed) if doomed else set()
    dropped = [one for one in _release.all_of(call.folder) if one.release in doomed]
    for name in doomed:
        remove_tree(call.folder.release(name))
    call.driver.tidy([*dropped, *replaced])


def _go_back(call: Call, seen: Observation, error: EdgeError) -> None:
    """Make what ran before run again, or, where nothing did, let nothing run."""
    with contextlib.suppress(OSError):  # on a full disk too the old release has to run again
        call.begin(GOING_BACK, error=call.told(error))
    failed = call.result.components
    call.result.components = []
    try:
        if seen.current is None:
            _let_nothing_run(call, seen)
            call.result.components = failed
        else:
            make_run(call, seen.current, call.driver.look(closely=True))
            with contextlib.suppress(OSError):  # what was noted when it was healthy still holds
                seen.current.store(call.folder)
            note_baseline(call, seen.current)
            runs(call, call.noted())
            call.result.rolled_back = True
            call.result.health = "healthy"
            call.result.components = failed
    except Exception as second:  # noqa: BLE001 - the first error is the one to answer with
        call.result.revision = call.result.version = call.result.release = None
        call.result.health = "degraded"
        call.result.components = failed
        error.message += f"; going back failed too: {translated(second).message}"


def _let_nothing_run(call: Call, seen: Observation) -> None:
    projects = {call.project(component.name) for component in call.request.components}
    if seen.seen:
        call.driver.end(projects)
    else:
        call.driver.discard(projects)
    result = call.result
    result.revision = result.version = result.release = None
    result.health, result.images = "unknown", []


def _was_going_back(call: Call, seen: Observation) -> bool:
    """Whether this very call was cut off while it went back: its verdict stands already."""
    notes, fence = seen.unfinished, call.request.fence
    return bool(
        notes
        and notes.get("phase") == GOING_BACK
        and fence
        and notes.get("fence") == fence.as_dict()
        and not call.check
    )


def _finish_going_back(call: Call, seen: Observation) -> None:
    """End what was begun and answer with the error that had begun it."""
    error = Remembered((seen.unfinished or {})["error"])
    call.stoppable = False
    call.result.changed = True
    _go_back(call, seen, error)
    raise error


class Remembered(InternalError):
    """The error of this very call, from before it was cut off."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["code"], error["message"], error["cure"])
        self.kind = error["class"]
