# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that a compose.yaml makes Compose read, checked before the package travels."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.plugin_utils import _compose_paths
from ansible_collections.margrave.edge.plugins.plugin_utils.strict_yaml import read


def strays(files: dict[str, bytes]) -> list[str]:
    """Return every path that leads out of the component, or to nothing in it.

    A Compose file that cannot be read is a finding: nobody knows what it names.
    """
    found = _compose_paths.strays(files, lambda name: read(files[name]))
    return [f"{stray.where}: {stray.words}" for stray in found]
