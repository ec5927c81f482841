# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images in the kubelet's own store: fetched before anything stops, where the node has a way to.

That is containerd's `ctr`, which every node with containerd has, or `crictl`, which takes logins
too. Without either the kubelet fetches when it starts pods.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs, Ran, find
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error

CRICTL = ("/usr/local/bin/crictl", "/usr/bin/crictl", "/var/lib/rancher/rke2/bin/crictl")
CTR = ("/usr/local/bin/ctr", "/usr/bin/ctr", "/var/lib/rancher/rke2/bin/ctr")
SOCKETS = ("/run/k3s/containerd/containerd.sock", "/run/containerd/containerd.sock")
# How registries are reached, as the kubelet's containerd is told it.
HOSTS = (
    "/var/lib/rancher/k3s/agent/etc/containerd/certs.d",
    "/var/lib/rancher/rke2/agent/etc/containerd/certs.d",
    "/etc/containerd/certs.d",
)
LOOK_LIMIT = 60.0
PULL_LIMIT = 1800.0


@dataclass(frozen=True)
class Images:
    """The kubelet's images, through whatever the node has; `logins` are by registry."""

    programs: Programs
    logins: Mapping[str, dict]

    def missing(self, references: list[str]) -> list[str]:
        """Those of the images that are not here and could be fetched; others are the kubelet's."""
        crictl, ctr = _crictl(), _ctr()
        if crictl:
            return [one for one in references if not self._is_here(crictl, one)]
        if ctr:
            known = set(self._run([*ctr, "images", "ls", "-q"]).out.split())
            # It takes logins on its command line alone, which anybody on the node can read.
            return [
                one
                for one in references
                if full_name(one) not in known and not self._credentials(one)
            ]
        return []

    def pull(self, reference: str) -> None:
        """Fetch an image that is missing; raises the error of the class of what went wrong."""
        crictl, ctr = _crictl(), _ctr()
        if crictl:
            words, more = [*crictl, "pull", reference], self._credentials(reference)
        else:
            hosts = next((path for path in HOSTS if os.path.isdir(path)), None)
            told = ["--hosts-dir", hosts] if hosts else []
            words, more = [*(ctr or []), "images", "pull", *told, full_name(reference)], {}
        ran = self._run(words, PULL_LIMIT, more)
        if ran.code != 0:
            said = ran.err.strip().splitlines()[-1:] or ["nothing came in time"]
            raise pull_error(reference, said[0])

    def _credentials(self, reference: str) -> dict[str, str]:
        """The login as crictl takes it from its environment, which root alone reads."""
        login = self.logins.get(registry_of(reference)) or {}
        if not login.get("username"):
            return {}
        return {"CRICTL_CREDS": f"{login['username']}:{login.get('password') or ''}"}

    def _is_here(self, crictl: list[str], reference: str) -> bool:
        ran = self._run([*crictl, "inspecti", "-o", "json", reference])
        return ran.code == 0 and "status" in json.loads(ran.out or "{}")

    def _run(
        self, command: list[str], limit: float = LOOK_LIMIT, more: dict[str, str] | None = None
    ) -> Ran:
        return self.programs.run(command, limit, {"HOME": "/nonexistent", **(more or {})})


def full_name(reference: str) -> str:
    """An image's name as containerd keeps it: with registry, and with a tag or a digest."""
    if registry_of(reference) == "docker.io" and not reference.startswith("docker.io/"):
        reference = f"docker.io/{'' if '/' in reference else 'library/'}{reference}"
    last = reference.rpartition("/")[2]
    return reference if ":" in last or "@" in last else f"{reference}:latest"


def _crictl() -> list[str] | None:
    program, socket = find(*CRICTL), _socket()
    if program is None or socket is None:
        return None
    return [program, "--config=/nonexistent", f"--runtime-endpoint=unix://{socket}"]


def _ctr() -> list[str] | None:
    program, socket = find(*CTR), _socket()
    return [program, "--address", socket, "--namespace", "k8s.io"] if program and socket else None


def _socket() -> str | None:
    return next((path for path in SOCKETS if os.path.exists(path)), None)
