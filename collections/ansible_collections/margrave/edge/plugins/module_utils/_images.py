# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images of releases: pulled before anything stops, removed when unused.

A release records the image behind each reference, because a tag can move.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils import (
    _pull_policy,
    _pulls,
    _release,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine, repository_of
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import (
    pull_denied,
    pull_mismatch,
)
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

# Keys that a release records once an image has been pulled.
NOTED = ("id", "digest", "pin", "pulled")


def missing(engine: Engine, release: Release) -> list[str]:
    """Return the references whose images are not on the node."""
    names = {_name(image): image["reference"] for image in _images(release)}
    return sorted(names[name] for name in names if engine.image(name) is None)


def is_due(release: Release) -> bool:
    """Return whether images of a running release have to be pulled again now."""
    now = time.time()
    return any(_pull_policy.is_due(image, now) for image in _images(release))


def differ(release: Release, other: Release) -> bool:
    """Return whether the releases have recorded different images."""
    mine, others = (
        [
            [(image["reference"], image["id"]) for _service, image in sorted(part.images.items())]
            for part in one.parts
        ]
        for one in (release, other)
    )
    return mine != others


def inherit(release: Release, prepared: Release) -> set[str]:
    """Copy the images that a prefetch of the same release has recorded; return their references."""
    noted = {image["reference"]: image for image in _images(prepared) if image["id"]}
    mine = [image for image in _images(release) if image["reference"] in noted]
    for image in mine:
        known = noted[image["reference"]]
        image.update({key: known[key] for key in NOTED if key in known})
    return {image["reference"] for image in mine}


def fetch(
    call: Call,
    engine: Engine,
    release: Release,
    current: Release | None = None,
    prepared: Container[str] = (),
) -> bool:
    """Pull the images of a release and record them; return whether anything was pulled.

    `prepared` holds references that a prefetch of this release has pulled: a local image of these
    is used whatever their pull policy is, because the registry may be out of reach by now.
    """
    work = _Fetching(call, engine, release, prepared)
    if work.must or work.may:
        # Stored before the first byte arrives: images pulled by a killed call are ours, too.
        if not release.proven:
            release.store(call.folder)
        for warning in _pulls.fetch(call, engine, [*work.must, *work.may], work.may):
            call.result.warn(f"{warning}; the image that is here is used")
    before = _by_service(current) if current else {}
    for service, image in _by_service(release).items():
        if work.note(image):
            _pin(engine, image, before.get(service, {}))
    return bool(work.must or work.may)


def _by_service(release: Release) -> dict[tuple[str, str], dict]:
    return {
        (part.name, service): image
        for part in release.parts
        for service, image in part.images.items()
    }


def _pin(engine: Engine, image: dict, before: dict) -> None:
    """Record the name under which Compose runs exactly the recorded image.

    Older versions recorded none. If the image is the same, a new name would only restart the
    container.
    """
    image.pop("pin", None)
    same = (before.get("reference"), before.get("id")) == (image["reference"], image["id"])
    if not _pull_policy.is_exact(image["reference"]) and not (same and "pin" not in before):
        image["pin"] = exact_name(engine, image)


class _Fetching:
    """Pull plan of one call for the images of a release."""

    def __init__(
        self, call: Call, engine: Engine, release: Release, prepared: Container[str]
    ) -> None:
        self.engine = engine
        self.prepared = prepared
        self.now = time.time()
        # A rollback runs the recorded images; only install and update look for newer ones.
        self.asks = call.kind != "rollback"
        self.must: list[str] = []
        self.may: list[str] = []
        self.here: dict[str, str | None] = {}
        owned = owned_images(call.layout)
        for image in _images(release):
            self._plan(image, owned)

    def _plan(self, image: dict, owned: set[str]) -> None:
        name = _name(image)
        if name not in self.here:
            self.here[name] = self.engine.image(name)
        here = self.here[name]
        is_new = not image["id"]
        step = _pull_policy.decide(image, here is not None, is_new, self.now)
        asks = self.asks and image["reference"] not in self.prepared
        if not asks and here is not None:
            step = _pull_policy.KEEP
        image["ours"] = here is None or here in owned or (is_new and image["reference"] in owned)
        if step == _pull_policy.REFUSE:
            raise pull_denied(image["reference"])
        wanted = {_pull_policy.MUST: self.must, _pull_policy.MAY: self.may}.get(step)
        source = _source(image) if here is None else image["reference"]
        if wanted is not None and source not in (*self.must, *self.may):
            wanted.append(source)

    def note(self, image: dict) -> bool:
        """Record the image behind a reference; return whether it differs from the recorded one."""
        here, known = self.here[_name(image)], image["id"]
        source = image["reference"] if here else _source(image)
        if source in (*self.must, *self.may):
            found = self.engine.image(source)
            if found is None:
                raise pull_mismatch(source)
            image["ours"] = image["ours"] or found != here
            image["pulled"] = int(self.now)
            here = found
        image["id"] = here
        if here == known:
            return False
        if not _pull_policy.is_exact(image["reference"]):
            image["digest"] = self.engine.digest(image["id"], image["reference"])
        return True


def _name(image: dict) -> str:
    """Return the name for a local lookup: the id if it is known, because a tag may have moved."""
    exact = _pull_policy.is_exact(image["reference"])
    return image["reference"] if exact or not image["id"] else image["id"]


def _source(image: dict) -> str:
    """Return the name for pulling a recorded image that is not on the node any more."""
    if not image.get("digest") or _pull_policy.is_exact(image["reference"]):
        return str(image["reference"])
    return f"{repository_of(image['reference'])}@{image['digest']}"


def exact_name(engine: Engine, image: dict) -> str:
    """Return a name that always resolves to this image.

    Docker keeps the name with the digest when the tag moves, and shows it; podman does not.
    """
    if engine.name == "docker" and image.get("digest"):
        name = _source(image)
        if engine.image(name) == image["id"]:
            return name
    return f"sha256:{image['id']}"


def _images(release: Release) -> Iterator[dict]:
    return (image for part in release.parts for image in part.images.values())


def _of_all(layout: Layout, ending: str = "") -> Iterator[dict]:
    """Yield the images of all releases on the node, except those of the ending deployment."""
    for deployment in layout.known():
        if deployment != ending:
            for release in _release.all_of(layout.deployment(deployment)):
                yield from _images(release)


def owned_images(layout: Layout) -> set[str]:
    """Return ids of all images that this collection pulled; references if no id is recorded yet."""
    return {image["id"] or image["reference"] for image in _of_all(layout) if image["ours"]}


def remove_unused(
    layout: Layout, engine: Engine, dropped: Iterable[Release], ending: str = ""
) -> list[str]:
    """Remove images of dropped releases that this collection pulled and nothing else needs.

    The releases of an `ending` deployment need none.
    """
    return [
        reference
        for reference, image_id in _unused(layout, engine, dropped, ending)
        if engine.remove_image(_removable(engine, reference, image_id))
    ]


def unused(
    layout: Layout, engine: Engine, dropped: Iterable[Release], ending: str = ""
) -> list[str]:
    """Return the images to remove; the releases of an `ending` deployment need none."""
    return [reference for reference, _id in _unused(layout, engine, dropped, ending)]


def _removable(engine: Engine, reference: str, image_id: str) -> str:
    """Return the name for removing an image: the tag, or the id if the tag has moved."""
    return reference if not image_id or engine.image(reference) == image_id else image_id


def _unused(
    layout: Layout, engine: Engine, dropped: Iterable[Release], ending: str = ""
) -> list[tuple[str, str]]:
    candidates = {
        (image["reference"], image["id"])
        for release in dropped
        for image in _images(release)
        if image["ours"]
    }
    needed = {image["id"] or image["reference"] for image in _of_all(layout, ending)}
    left = [one for one in sorted(candidates) if one[1] not in needed and one[0] not in needed]
    if not left:
        return []  # as after most updates: the engine need not look at all that it runs
    running = {
        container.image_id
        for container in engine.containers()
        if not ending or container.labels.get(DEPLOYMENT) != ending
    }
    return [one for one in left if one[1] not in running]
