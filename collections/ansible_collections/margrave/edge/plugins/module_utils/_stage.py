# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a release ready on the disk: content checked and unpacked, model resolved, policy kept."""

from __future__ import annotations

import os
from collections.abc import Mapping

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
from ansible_collections.margrave.edge.plugins.module_utils._record import as_dict
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Request


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

    A caller who names the release vouches for its variables and values, as secrets are told apart
    by releases and not by revisions; never for other content or another namespace.
    """
    stored = _release.load(call.folder, call.request.release)
    if stored is None or not stored.proven:
        return
    same = stored.inputs in ("", call.request.inputs)
    if call.request.names_release:
        same = _has_same_contents(stored, call.request)
    if not same or (stored.profile == "helm" and stored.namespace != call.request.namespace):
        raise ConfigError(
            "revision-reused",
            f"revision: {stored.revision} ran here with other content, values or namespace",
            "leave revision out, or give another one to what is to run now",
        )


def _has_same_contents(stored: Release, request: Request) -> bool:
    """Return whether the components and their digests are those of the stored release."""
    digests = {part.name: part.digest for part in stored.parts}
    # A chart of a registry has its digest only once it was fetched.
    given = {one.name: one.digest or digests.get(one.name) for one in request.components}
    return given == digests


def stage(call: Call, seen: Observation, archives: dict[str, bytes]) -> Release:
    """The wanted release, complete on the disk but for its images."""
    wanted = call.request.release or ""
    stored = _release.load(call.folder, wanted)
    if stored is not None and stored.proven:
        check_policy(call, stored)
        note_inputs(call, stored)
        _refill(call, stored, archives)
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


def note_inputs(call: Call, release: Release) -> bool:
    """Note what a call gives anew to a release that ran before; return whether something changed.

    None of it reaches a container. A name that is left out stays what it was.
    """
    request, before = call.request, as_dict(release)
    for name in ("version", "revision", "name", "application"):
        given = getattr(request, name)
        if given:
            setattr(release, name, given)
    release.health = dict(request.health) or release.health
    limits = {one.name: one.timeout for one in request.components}
    for part in release.parts:
        part.timeout = limits.get(part.name)
    return as_dict(release) != before


def _refill(call: Call, release: Release, archives: Mapping[str, bytes]) -> None:
    """Put files of a package back that somebody removed from a release."""
    if release.profile == "compose":
        # Charts mount nothing from here, and need not pay for the import.
        from ansible_collections.margrave.edge.plugins.module_utils import _mounts

        for part in release.parts:
            _mounts.refill(call.folder, release.release, part.name, archives[part.name])


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
    stored = _release.load(call.folder, call.request.release)
    if stored is not None and stored.proven:
        check_policy(call, stored)
        note_inputs(call, stored)
        return stored
    import tempfile  # what it brings along would be a fortieth of each call's imports

    with tempfile.TemporaryDirectory(prefix="margrave-") as beside:
        folder = Folder(beside)
        parts = [
            call.driver.stage(folder, one, archives[one.name], None)
            for one in call.request.components
        ]
    return _described(call, parts)


def check_policy(call: Call, release: Release, refuse: bool = True) -> None:
    """Hold a release that is ready against the policy of now.

    One that ran before there was a table goes on as it is, with a warning for each finding.
    """
    strict = refuse and (release.policy_table or not release.proven)
    for part in release.parts:
        try:
            call.driver.refuse(call.folder, release, part)
        except ConfigError as error:
            if error.code != "policy" or strict:
                raise
            finding = call.told(error)["message"]
            if finding not in call.result.policy_findings:
                call.result.policy_findings.append(finding)
            call.result.warn(f"{finding}; the next change of this deployment will be refused")


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
        policy_table=_release.POLICY_TABLE,
    )
