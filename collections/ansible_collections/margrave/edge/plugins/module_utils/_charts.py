# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check of a chart's own files before Helm reads them: what Margo forbids charts is refused."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Iterator

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

# A chart is rendered without access to the cluster, so a lookup finds nothing, however it hides.
# Where a chart's own templates plainly have one, its author learns it here. Libraries in charts/
# often have helpers with one that are not used.
LOOKUP = re.compile(rb"\{\{[^}]*\blookup\b")
LARGEST = 8 * 1024**2


def path_in(folder: str) -> str:
    """The chart in a component's folder: an unpacked one at its root, or a packed one."""
    if os.path.exists(os.path.join(folder, "Chart.yaml")):
        return folder
    packed = sorted(name for name in os.listdir(folder) if name.endswith(".tgz"))
    return os.path.join(folder, packed[0]) if packed else folder


def check(component: str, chart: str) -> None:
    """Refuse what is no chart, brings definitions of resources, or plainly has a lookup."""
    findings, seen = [], False
    try:
        for name, data in _files(chart):
            parts = name.split("/")
            seen = seen or name == "Chart.yaml"
            if "crds" in parts[:-1] and "templates" not in parts:
                findings.append(f"{name}: definitions of resources are not a chart's to manage")
            if parts[0] == "templates" and LOOKUP.search(data):
                findings.append(f"{name}: lookup finds nothing here; make a parameter of it")
    except (OSError, tarfile.TarError) as error:
        findings.append(f"it cannot be read: {error}")
    if not seen and not findings:
        findings.append("has no Chart.yaml at its root")
    if findings:
        raise ConfigError(
            "chart",
            "; ".join(f"components.{component}: {finding}" for finding in findings[:10]),
            "mend the chart and publish the application again",
        )


def _files(chart: str) -> Iterator[tuple[str, bytes]]:
    """Names below the chart's folder and the beginnings of their contents."""
    if not os.path.isfile(chart):
        for folder, _folders, names in os.walk(chart):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    yield os.path.relpath(path, chart), file.read(LARGEST)
        return
    with tarfile.open(chart, "r:gz") as tar:
        for entry in tar:
            body = tar.extractfile(entry) if entry.isfile() else None
            # A packed chart lies in a folder of its own name.
            yield entry.name.partition("/")[2], body.read(LARGEST) if body else b""
