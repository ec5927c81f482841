# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stored models that Compose runs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import (
    _images,
    _model,
    _mounts,
    _pull_policy,
    _release,
)
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._files import read_json, write_whole
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


def stored(folder: Folder, release: Release, component: str) -> dict | None:
    """Return the stored model of a component."""
    return read_json(_release.model_path(folder, release.release, component))


def store(folder: Folder, release: Release, component: str, model: dict) -> None:
    """Store the model of a component atomically."""
    write_whole(_release.model_path(folder, release.release, component), written(model))


def volume_names(folder: Folder, releases: Iterable[Release]) -> set[str]:
    """Return the names that the models of these releases give to volumes."""
    models = [stored(folder, release, part.name) for release in releases for part in release.parts]
    volumes = [model.get("volumes") or {} for model in models if model]
    return {str(one.get("name") or "") for named in volumes for one in named.values() if one}


def written(value: dict) -> bytes:
    """Return a model in the format of its file."""
    return json.dumps(value, sort_keys=True, indent=1).encode()


def runnable(folder: Folder, engine: Engine, release: Release, part: Part) -> dict:
    """Return the stored model with the release's images; recreate missing mount sources."""
    model = stored(folder, release, part.name)
    if model is None:
        raise _release.incomplete(_release.model_path(folder, release.release, part.name))
    for image in part.images.values():
        # Older versions recorded only the tag, which can have moved.
        exact = image.get("pin") or _pull_policy.is_exact(image["reference"])
        if not exact and engine.image(image["reference"]) != image["id"]:
            image["pin"] = _images.exact_name(engine, image)
    pinned = _model.pinned(model, part.images)
    if pinned != model:
        store(folder, release, part.name, pinned)
    _mounts.restore(folder, release.release, part.name, pinned)
    return pinned
