# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images of releases: fetched before anything stops, removed when nothing needs them."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _pulls, _release
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_mismatch
from ansible_collections.margrave.edge.plugins.module_utils._release import Release


def missing(engine: Engine, release: Release) -> list[str]:
    """Images of the release that are not here."""
    return [one for one in release.references() if engine.image(one) is None]


def fetch(call: Call, engine: Engine, release: Release) -> bool:
    """See to it that every image of the release is here; tells whether one had to be fetched."""
    known = {one: engine.image(one) for one in release.references()}
    absent = [one for one, here in known.items() if here is None]
    owned = owned_images(call.layout).union(absent)
    for image in _images(release):
        image["ours"] = image["reference"] in owned
    if absent:
        # Written before the first byte comes: what a call fetched that was then killed is ours.
        release.store(call.folder)
        _pulls.fetch(call, engine, absent)
        known.update((one, _arrived(engine, one)) for one in absent)
    for image in _images(release):
        image["id"] = known[image["reference"]]
    return bool(absent)


def _arrived(engine: Engine, reference: str) -> str:
    """The id of an image that was fetched; a name with a digest is found by that digest alone."""
    found = engine.image(reference)
    if found is None:
        raise pull_mismatch(reference)
    return found


def _images(release: Release) -> list[dict]:
    return [image for part in release.parts for image in part.images.values()]


def owned_images(layout: Layout) -> set[str]:
    """Images that this collection fetched for any release on the node."""
    return {
        image["reference"]
        for deployment in layout.known()
        for release in _release.all_of(layout.deployment(deployment))
        for image in _images(release)
        if image["ours"]
    }


def remove_unused(layout: Layout, engine: Engine, dropped: Iterable[Release]) -> list[str]:
    """Remove images of dropped releases that were ours and that nothing else on the node needs."""
    return [one for one in unused(layout, engine, dropped) if engine.remove_image(one)]


def unused(
    layout: Layout, engine: Engine, dropped: Iterable[Release], ending: str = ""
) -> list[str]:
    """Those images, in order; where a deployment is `ending`, as if nothing of it were there."""
    candidates = {
        image["reference"]: image["id"]
        for release in dropped
        for image in _images(release)
        if image["ours"]
    }
    needed = _needed(layout, ending) if candidates else set()
    left = {name: image_id for name, image_id in candidates.items() if name not in needed}
    if not left:
        return []  # as after most updates: the engine need not look at all that it runs
    running = {
        one.image_id
        for one in engine.containers()
        if not ending or one.labels.get(DEPLOYMENT) != ending
    }
    return [reference for reference, image_id in sorted(left.items()) if image_id not in running]


def _needed(layout: Layout, ending: str) -> set[str]:
    return {
        reference
        for deployment in layout.known()
        if deployment != ending
        for release in _release.all_of(layout.deployment(deployment))
        for reference in release.references()
    }
