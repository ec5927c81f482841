# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images of releases: fetched before anything stops, removed when nothing needs them."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _release
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._release import Release


def prefetch(call: Call, release: Release) -> bool:
    """See to it that every image of the release is here; tells whether one had to be fetched."""
    known = {one: call.engine.image(one) for one in release.references()}
    missing = [one for one, here in known.items() if here is None]
    owned = owned_images(call.layout).union(missing)
    for part in release.parts:
        for image in part.images.values():
            image["ours"] = image["reference"] in owned
    if missing:
        # Written before the first byte comes: what a call fetched that was then killed is ours.
        release.store(call.folder)
    for reference in missing:
        call.safe_point()
        _pull(call, reference)
        known[reference] = call.engine.image(reference)
    for part in release.parts:
        for image in part.images.values():
            image["id"] = known[image["reference"]] or ""
    return bool(missing)


def _pull(call: Call, reference: str) -> None:
    login = call.request.logins.get(registry_of(reference))
    call.engine.pull(reference, login, call.safe_point)


def owned_images(layout: Layout) -> set[str]:
    """Images that this collection fetched for any release on the node."""
    return {
        image["reference"]
        for deployment in layout.known()
        for release in _release.all_of(layout.deployment(deployment))
        for part in release.parts
        for image in part.images.values()
        if image["ours"]
    }


def remove_unused(call: Call, dropped: Iterable[Release]) -> list[str]:
    """Remove images of dropped releases that were ours and that nothing else on the node needs."""
    candidates = {
        image["reference"]: image["id"]
        for release in dropped
        for part in release.parts
        for image in part.images.values()
        if image["ours"]
    }
    if not candidates:
        return []
    needed = _needed(call.layout)
    running = {one.image_id for one in call.engine.containers()}
    return [
        reference
        for reference, image_id in sorted(candidates.items())
        if reference not in needed
        and image_id not in running
        and call.engine.remove_image(reference)
    ]


def _needed(layout: Layout) -> set[str]:
    return {
        reference
        for deployment in layout.known()
        for release in _release.all_of(layout.deployment(deployment))
        for reference in release.references()
    }
