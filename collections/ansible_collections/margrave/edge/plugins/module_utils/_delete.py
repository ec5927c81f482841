# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a deployment off the node, all that is its own; volumes only when asked."""

from __future__ import annotations

import os
import time

from ansible_collections.margrave.edge.plugins.module_utils import (
    _baseline,
    _driver,
    _forget,
    _release,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._driver import Driver
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    remove_file,
    remove_tree,
)


def delete(call: Call) -> None:
    """Nothing of the deployment is left; `changed` only when something was there."""
    drivers = _drivers(call)
    remains = [(one, one.remains()) for one in drivers]
    volumes = {name for _driver_of, one in remains for name in one.volumes}
    doomed = volumes if call.request.remove_volumes else set()
    there = os.path.isdir(call.folder.path)
    call.result.changed = there or bool(doomed) or any(one.anything for _driver_of, one in remains)
    call.result.volumes_kept = sorted(volumes - doomed)
    if call.check:
        call.result.images = [image for driver in drivers for image in driver.spare()]
    elif call.result.changed:
        call.stoppable = False
        call.begin("delete")
        with call.result.timed("switch"):
            for driver, one in remains:
                driver.sweep([name for name in one.volumes if name in doomed])
        _forget_releases(call, drivers)
    call.result.state, call.result.phase = "DELETED", "done"


def _drivers(call: Call) -> list[Driver]:
    """What may hold something of the deployment: all that the node has, where nothing is noted."""
    stored = call.stored_profile()
    return [_driver.of(call, one) for one in ([stored] if stored else _driver.here())]


def _forget_releases(call: Call, drivers: list[Driver]) -> None:
    """Remove the releases with their images, and last the journal: a cut-off delete is repeated.

    Images go first, because only the releases' descriptions name them.
    """
    dropped = _release.all_of(call.folder)
    for name in ("current", "previous", "next"):
        remove_file(call.folder.link(name))
    call.result.images = [image for one in drivers for image in one.tidy(dropped, ending=True)]
    remove_tree(call.folder.releases)
    remove_tree(call.folder.path)
    _baseline.forget(call.layout, call.request.deployment)
    _leave_no_empty_folder(call.layout.deployments)
    if os.path.isdir(call.layout.records):
        _forget_old_records(call)


def _forget_old_records(call: Call) -> None:
    """Tidy the node's records; what is deleted is deleted, whether or not that succeeds."""
    try:
        _forget.forget_old(call.layout, time.time())
    except OSError as error:
        call.result.warn(f"records of old deletions stay until the next delete: {error}")


def _leave_no_empty_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return  # other deployments live there
