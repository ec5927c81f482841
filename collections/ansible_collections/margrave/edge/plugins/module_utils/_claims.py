# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claims of a deployment's charts: they outlive releases, and are found again after all of them.

Helm's own note says of a claim which release made it; one that a stateful set made has none. So
those that are kept get the deployment's label before what tells of them goes.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _charted, _release
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import record

MADE_BY = "meta.helm.sh/release-name"


@record
class Claims:
    """One deployment's; `prefix` is what the names of its releases begin with."""

    cluster: Cluster
    folder: Folder
    deployment: str
    prefix: str

    def found(self) -> list[tuple[str, str]]:
        """Namespace and name of each that is there."""
        wanted = self._wanted()
        return [
            (one["metadata"]["namespace"], one["metadata"]["name"])
            for one in self.cluster.everywhere(_charted.CLAIM)
            if self.is_ours(one["metadata"], wanted)
        ]

    def foreign(self, namespace: str, patterns: Iterable[str]) -> list[str]:
        """Return names of claims of others that a stateful set would take for its own."""
        wanted, patterns = self._wanted(), list(patterns)
        claims = self.cluster.items(_charted.CLAIM, namespace) if patterns else []
        return [
            claim["metadata"]["name"]
            for claim in claims
            if any(fnmatch.fnmatchcase(claim["metadata"]["name"], each) for each in patterns)
            and not self.is_ours(claim["metadata"], wanted)
        ]

    def _wanted(self) -> set[tuple[str, str]]:
        """Return namespaces and names, or patterns of names, that the kept releases have."""
        return {
            (release.namespace, pattern)
            for release in _release.all_of(self.folder)
            for part in release.parts
            for pattern in part.volumes
        }

    def is_ours(self, metadata: dict, wanted: Iterable[tuple[str, str]]) -> bool:
        """Whether a claim says so, or a release that is kept does."""
        made_by = (metadata.get("annotations") or {}).get(MADE_BY, "")
        label = (metadata.get("labels") or {}).get(DEPLOYMENT)
        return (
            label == self.deployment
            or made_by.startswith(self.prefix)
            or any(
                fnmatch.fnmatchcase(metadata["name"], pattern)
                for namespace, pattern in wanted
                if namespace == metadata["namespace"]
            )
        )

    def keep(self, claims: Iterable[tuple[str, str]]) -> None:
        """Have them say whose they are."""
        for namespace, name in claims:
            self.cluster.label(_charted.CLAIM, namespace, name, f"{DEPLOYMENT}={self.deployment}")

    def remove(self, claims: Iterable[tuple[str, str]]) -> None:
        """Remove them, and what is in them."""
        for namespace, name in claims:
            self.cluster.delete(_charted.CLAIM, namespace, [name])
