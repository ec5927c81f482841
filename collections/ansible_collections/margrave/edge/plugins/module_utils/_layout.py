# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where things stand on a node (fixed: contracts.md section 7)."""

from __future__ import annotations

import os

from ansible_collections.margrave.edge.plugins.module_utils._record import record

STATE = "/var/lib/margrave"
# Locks die with the machine, as the processes that held them do.
RUN = "/run/margrave"
# Where engines keep what they pull and run, and all that has no disk of its own.
STORES = ("/var/lib/containers", "/var/lib/docker", "/var/lib/rancher", "/var/lib/containerd", "/")


@record
class Layout:
    """The node's folders; tests give others."""

    root: str = STATE
    run: str = RUN

    @property
    def programs(self) -> str:
        """What was found out about programs since the machine started: no deployment's."""
        return self.run + "-programs.json"

    @property
    def baselines(self) -> str:
        """Folder of the baselines: what they are compared with ends with the machine's run."""
        return self.run + "-baselines"

    def baseline(self, deployment: str) -> str:
        """When the deployment's release was found healthy, and how its containers stood then."""
        return os.path.join(self.baselines, deployment + ".json")

    @property
    def mark(self) -> str:
        """Which runner claimed the node."""
        return os.path.join(self.root, "fence.json")

    @property
    def records(self) -> str:
        """The highest fence of each deployment, with the result of its call."""
        return os.path.join(self.root, "fences")

    def record_of(self, deployment: str) -> str:
        """The highest fence that this deployment has seen."""
        return os.path.join(self.records, deployment)

    @property
    def deployments(self) -> str:
        """All deployments of the node."""
        return os.path.join(self.root, "deployments")

    def deployment(self, deployment: str) -> Folder:
        """One deployment's folder."""
        return Folder(os.path.join(self.deployments, deployment))

    def known(self) -> list[str]:
        """Ids of deployments that have a folder."""
        try:
            return sorted(os.listdir(self.deployments))
        except FileNotFoundError:
            return []


@record
class Folder:
    """One deployment on the node."""

    path: str

    @property
    def journal(self) -> str:
        """What is being done, written before each step."""
        return os.path.join(self.path, "journal.json")

    @property
    def releases(self) -> str:
        """All releases that are kept."""
        return os.path.join(self.path, "releases")

    def release(self, release: str) -> str:
        """The real path that Compose runs with."""
        return os.path.join(self.releases, release)

    @property
    def contents(self) -> str:
        """Package files, configs and secrets that containers mount, by their digests."""
        return os.path.join(self.path, "content")

    @property
    def content_key(self) -> str:
        """The key under which contents that may be secret are digested."""
        return os.path.join(self.path, "content.key")

    def content_of(self, path: str) -> str:
        """Return the content that a path lies in, or an empty text."""
        inside = path.startswith(self.contents + "/")
        return path[len(self.contents) + 1 :].partition("/")[0] if inside else ""

    def kept_contents(self) -> list[str]:
        """Return the contents that are here."""
        try:
            return sorted(os.listdir(self.contents))
        except FileNotFoundError:
            return []

    def link(self, name: str) -> str:
        """`current` or `previous`."""
        return os.path.join(self.path, name)

    def linked(self, name: str) -> str | None:
        """The release that a link names, or None."""
        try:
            return os.path.basename(os.readlink(self.link(name)))
        except OSError:
            return None

    def kept(self) -> list[str]:
        """The releases that have a folder."""
        try:
            return sorted(os.listdir(self.releases))
        except FileNotFoundError:
            return []
