# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fetch and check all that a release needs, and touch nothing that runs: its window comes later.

Nothing of this is noted in the journal: what runs is not concerned, and a call that was cut off is
simply made again.
"""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils import _release, _stage
from ansible_collections.margrave.edge.plugins.module_utils._apply import runs, tidy
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._driver import same_profile
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder, point
from ansible_collections.margrave.edge.plugins.module_utils._journal import DONE
from ansible_collections.margrave.edge.plugins.module_utils._release import Release


def prefetch(call: Call) -> None:
    """The release is whole on the node, and is `next` unless it ran here before."""
    archives = _stage.contents(call)
    same_profile(call.driver.profile, call.stored_profile())
    seen = call.observe()
    runs(call, seen)
    _stage.refuse_reuse(call)
    call.result.state = "PREFETCHED"
    if _is_ready(call):
        call.result.phase = DONE
        return
    call.result.changed = True
    if call.check:
        _would(call, _stage.rehearse(call, archives))
        return
    call.result.phase = "prefetch"
    make_folder(call.folder.path)
    with call.result.timed("prefetch"):
        call.result.images = _fetch(call, seen, archives)
    call.result.phase = DONE


def _is_ready(call: Call) -> bool:
    """Whether an earlier call left nothing to do; what the policy of now refuses is refused."""
    release = _release.load(call.folder, call.request.release)
    if release is None or release.inputs not in ("", call.request.inputs):
        return False
    noted = release.proven or call.folder.linked("next") == release.release
    if not noted or call.driver.missing(release):
        return False
    _stage.check_policy(call, release)
    call.result.images = release.references()
    return True


def _would(call: Call, release: Release) -> None:
    """Check mode's answer: what the call would end with."""
    call.driver.check_images(release)
    call.result.images, call.result.phase = release.references(), "check"
    stored = _release.load(call.folder, release.release)
    if stored is None or not stored.proven:
        call.result.next_revision = release.revision


def _fetch(call: Call, seen: Observation, archives: dict[str, bytes]) -> list[str]:
    release = _stage.stage(call, seen, archives)
    call.driver.fetch(release)
    release.store(call.folder)
    if not release.proven:
        point(call.folder.path, {"next": f"releases/{release.release}"})
        tidy(call)
        call.result.next_revision = release.revision
    return release.references()
