# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a release ready on the disk: content checked and unpacked, model resolved, policy kept."""

from __future__ import annotations

import os

from ansible_collections.margrave.edge.plugins.module_utils import _release
from ansible_collections.margrave.edge.plugins.module_utils._archive import verified
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    remove_file,
    remove_tree,
    sync_tree,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


def contents(call: Call) -> dict[str, bytes]:
    """All components' archives, each with the digest it should have."""
    if not call.request.components:
        raise ConfigError("no-components", "components: is empty", "name at least one")
    fetched = _fetched(call)
    return {
        one.name: fetched.get(one.name, b"")
        if one.repository
        else verified(one.name, one.archive, one.digest)
        for one in call.request.components
    }


def _fetched(call: Call) -> dict[str, bytes]:
    """What an earlier call fetched for this very release, so that no registry is needed again."""
    stored = _release.load(call.folder, call.request.release)
    if stored is None or stored.inputs != call.request.inputs:
        return {}
    return call.driver.kept(stored)


def refuse_reuse(call: Call) -> None:
    """Refuse a revision under which something else ran here: nobody would see that it does not.

    Who names the release himself vouches for it: secrets are told apart by it, not by revisions.
    """
    stored = _release.load(call.folder, call.request.release)
    if stored is None or not stored.proven or call.request.names_release:
        return
    same = stored.inputs in ("", call.request.inputs)
    if not same or (stored.profile == "helm" and stored.namespace != call.request.namespace):
        raise ConfigError(
            "revision-reused",
            f"revision: {stored.revision} ran here with other content, values or namespace",
            "leave revision out, or give another one to what is to run now",
        )


def stage(call: Call, seen: Observation, archives: dict[str, bytes]) -> Release:
    """The wanted release, complete on the disk but for its images."""
    wanted = call.request.release or ""
    stored = _release.load(call.folder, wanted)
    if stored is not None and stored.proven:
        check_policy(call, stored)
        _be_patient(call, stored)
        return stored
    folder = call.folder.release(wanted)
    _clear(folder)
    make_folder(folder)
    os.chmod(folder, 0o700)
    if call.request.lasting_secrets:
        _release.store_secrets(folder, call.request.lasting_secrets)
    parts = [
        call.driver.stage(call.folder, one, archives[one.name], seen.current)
        for one in call.request.components
    ]
    sync_tree(folder)
    return _described(call, parts)


def _be_patient(call: Call, release: Release) -> None:
    """Let a release that ran before take the time that it is given now."""
    release.health = dict(call.request.health)
    limits = {one.name: one.timeout for one in call.request.components}
    for part in release.parts:
        part.timeout = limits.get(part.name)


def _clear(folder: str) -> None:
    """Begin anew, but keep the description: it tells which images an earlier attempt fetched.

    Charts that were rendered stay, too: a rendering is made once.
    """
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if name != _release.FILE and not name.endswith(_release.RENDERED):
            remove_tree(path) if os.path.isdir(path) else remove_file(path)


def rehearse(call: Call, archives: dict[str, bytes]) -> Release:
    """The same checks as `stage`, in a folder that is gone afterwards: for check mode."""
    import tempfile  # what it brings along would be a fortieth of each call's imports

    with tempfile.TemporaryDirectory(prefix="margrave-") as beside:
        folder = Folder(beside)
        parts = [
            call.driver.stage(folder, one, archives[one.name], None)
            for one in call.request.components
        ]
    return _described(call, parts)


def check_policy(call: Call, release: Release) -> None:
    """Hold a release that is ready against the policy of now."""
    for part in release.parts:
        call.driver.refuse(call.folder, release, part)


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
        profile=request.profile or "compose",
        engine=call.driver.engine_name,
        namespace=request.namespace,
        inputs=request.inputs,
    )
