# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a release ready on the disk: content checked and unpacked, model resolved, policy kept."""

from __future__ import annotations

import json
import os
import tempfile

from ansible_collections.margrave.edge.plugins.module_utils import _model, _policy, _release
from ansible_collections.margrave.edge.plugins.module_utils._archive import unpack, verified
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._compose import env_file
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    read_json,
    remove_file,
    remove_tree,
    sync_folder,
    write_durable,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted


def contents(call: Call) -> dict[str, bytes]:
    """All components' archives, each with the digest it should have."""
    if not call.request.components:
        raise ConfigError("no-components", "components: is empty", "name at least one")
    return {
        one.name: verified(one.name, one.archive, one.digest) for one in call.request.components
    }


def stage(call: Call, seen: Observation, archives: dict[str, bytes]) -> Release:
    """The wanted release, complete on the disk but for its images."""
    wanted = call.request.release or ""
    stored = _release.load(call.folder, wanted)
    if stored is not None and stored.proven:
        check_policy(call, stored)
        return stored
    folder = call.folder.release(wanted)
    _clear(folder)
    make_folder(folder)
    os.chmod(folder, 0o700)
    existing = call.existing()
    parts = [_part(call, seen, one, archives[one.name], existing) for one in _wanted(call)]
    sync_folder(folder)
    return _described(call, parts)


def _clear(folder: str) -> None:
    """Begin anew, but keep the description: it tells which images an earlier attempt fetched."""
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if name != _release.FILE:
            remove_tree(path) if os.path.isdir(path) else remove_file(path)


def rehearse(call: Call, archives: dict[str, bytes]) -> Release:
    """The same checks as `stage`, in a folder that is gone afterwards: for check mode."""
    with tempfile.TemporaryDirectory(prefix="margrave-") as beside:
        folder, parts = Folder(beside), []
        for one in _wanted(call):
            model = _resolved(call, folder, one, archives[one.name])
            parts.append(_as_part(call, one, model))
    return _described(call, parts)


def _wanted(call: Call) -> tuple[Wanted, ...]:
    return call.request.components


def _part(
    call: Call, seen: Observation, one: Wanted, archive: bytes, existing: _model.Existing
) -> Part:
    release = call.request.release or ""
    model = _resolved(call, call.folder, one, archive)
    before = None
    if seen.current is not None:
        before = read_json(_release.model_path(call.folder, seen.current.release, one.name))
    ours = {
        _model.DEPLOYMENT: call.request.deployment,
        _model.REVISION: call.request.revision or "",
        _model.COMPONENT: one.name,
    }
    model = _model.labelled(model, ours, before, existing)
    path = _release.model_path(call.folder, release, one.name)
    write_durable(path, json.dumps(model, sort_keys=True, indent=1).encode())
    return _as_part(call, one, model)


def _resolved(call: Call, folder: Folder, one: Wanted, archive: bytes) -> dict:
    """Unpack a component, let Compose resolve it, and hold the result against the policy."""
    release = call.request.release or ""
    content = _release.component_folder(folder, release, one.name)
    os.makedirs(content, mode=0o755)
    unpack(one.name, archive, content)
    if not os.path.exists(os.path.join(content, "compose.yaml")):
        raise ConfigError(
            "no-compose-file",
            f"components.{one.name}: has no compose.yaml at its root",
            "put it there and publish the application again",
        )
    variables = _release.env_path(folder, release, one.name)
    write_durable(variables, env_file(one.variables))
    model = call.compose.resolve(call.request.project(one.name), content, variables)
    _policy.check(one.name, model, content, dict(call.request.policy))
    return model


def check_policy(call: Call, release: Release) -> None:
    """Hold a release that is ready against the policy of now."""
    for part in release.parts:
        model = read_json(_release.model_path(call.folder, release.release, part.name)) or {}
        content = _release.component_folder(call.folder, release.release, part.name)
        _policy.check(part.name, model, content, dict(call.request.policy))


def _as_part(call: Call, one: Wanted, model: dict) -> Part:
    return Part(
        name=one.name,
        digest=one.digest,
        project=call.request.project(one.name),
        timeout=one.timeout,
        images={
            service: {"reference": image, "id": "", "ours": False}
            for service, image in _model.images(model).items()
        },
        volumes=_model.volume_names(model),
    )


def _described(call: Call, parts: list[Part]) -> Release:
    request = call.request
    return Release(
        release=request.release or "",
        revision=request.revision or "",
        version=request.version,
        name=request.name,
        application=request.application,
        health=dict(request.health),
        parts=parts,
    )
