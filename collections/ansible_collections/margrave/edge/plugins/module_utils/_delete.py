# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a deployment off the node, all that is its own; volumes only when asked."""

from __future__ import annotations

import os
import time

from ansible_collections.margrave.edge.plugins.module_utils import _fence, _images, _release
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._containers import PROJECT
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    remove_file,
    remove_tree,
)


def delete(call: Call) -> None:
    """Nothing of the deployment is left; `changed` only when something was there."""
    containers = call.containers()
    networks = call.engine.networks([call.label])
    volumes = [one["Name"] for one in call.engine.volumes([call.label])]
    doomed = volumes if call.request.remove_volumes else []
    there = os.path.isdir(call.folder.path)
    call.result.changed = bool(containers or networks or doomed or there)
    call.result.volumes_kept = sorted(set(volumes) - set(doomed))
    if call.result.changed and not call.check:
        call.stoppable = False
        call.begin("delete")
        with call.result.timed("switch"):
            _end_projects(call, {one.labels.get(PROJECT, "") for one in containers})
            _sweep(call, doomed)
        _forget(call)
    call.result.state, call.result.phase = "DELETED", "done"


def _end_projects(call: Call, running: set[str]) -> None:
    """Let Compose stop things in the order it knows."""
    for project in sorted(running - {""}):
        call.compose.down(project)


def _sweep(call: Call, volumes: list[str]) -> None:
    """Remove what carries our label and Compose did not know any more."""
    for container in call.containers():
        call.engine.stop(container.id)
        call.engine.remove_container(container.id)
    for network in call.engine.networks([call.label]):
        call.engine.remove_network(network["Name"])
    for volume in volumes:
        call.engine.remove_volume(volume)


def _forget(call: Call) -> None:
    """Remove the releases with their images, and last the journal: a cut-off delete is repeated."""
    dropped = _release.all_of(call.folder)
    for name in ("current", "previous"):
        remove_file(call.folder.link(name))
    call.result.images = _without(call, dropped)
    remove_tree(call.folder.releases)
    remove_tree(call.folder.path)
    _leave_no_empty_folder(call.layout.deployments)
    if os.path.isdir(call.layout.records):
        _fence.forget_old(call.layout, time.time())


def _without(call: Call, dropped: list[_release.Release]) -> list[str]:
    """Remove the images that only these releases need; their descriptions must be gone before."""
    for one in dropped:
        remove_file(os.path.join(call.folder.release(one.release), _release.FILE))
    return _images.remove_unused(call, dropped)


def _leave_no_empty_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return  # other deployments live there
