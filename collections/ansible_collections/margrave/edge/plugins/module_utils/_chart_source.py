# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a component's chart comes from: what travelled, a registry, or what was fetched before."""

from __future__ import annotations

import os

from ansible_collections.margrave.edge.plugins.module_utils import _charts, _helm, _release
from ansible_collections.margrave.edge.plugins.module_utils._archive import (
    digest_of,
    unpack,
    verify,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import write_plain
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted


def kept(folder: Folder, stored: Release) -> dict[str, bytes]:
    """Packed charts of a release that are on the disk as they were noted, by component."""
    found = {}
    for part in stored.parts:
        place = _release.component_folder(folder, stored.release, part.name)
        chart = _charts.path_in(place) if os.path.isdir(place) else place
        if os.path.isfile(chart):
            with open(chart, "rb") as file:
                data = file.read()
            if digest_of(data) == part.digest:
                found[part.name] = data
    return found


def put(cluster: Cluster, one: Wanted, archive: bytes, place: str, login: dict | None) -> str:
    """Put the chart into its folder; the digest of what it came as.

    The archive is what travelled, or, of a chart from a registry, what was kept; else it is pulled.
    """
    os.makedirs(place, mode=0o755)
    if not one.repository:
        unpack(one.name, archive, place)
    elif archive:
        write_plain(os.path.join(place, "chart.tgz"), archive)
    else:
        with open(_helm.pull(cluster, one.repository, one.revision, place, login), "rb") as file:
            archive = file.read()
    if one.digest:
        verify(one.name, archive, one.digest)
    return digest_of(archive)
