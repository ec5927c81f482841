# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images in the kubelet's own store: fetched before anything stops, where the node has a way to.

That is containerd's `ctr`, which every node with containerd has, or `crictl`, which takes logins
too. Without either the kubelet fetches when it starts pods.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property

from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs, Ran, find
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error
from ansible_collections.margrave.edge.plugins.module_utils._pulls import SOME_CAME
from ansible_collections.margrave.edge.plugins.module_utils._record import record

CRICTL = ("/usr/local/bin/crictl", "/usr/bin/crictl", "/var/lib/rancher/rke2/bin/crictl")
CTR = ("/usr/local/bin/ctr", "/usr/bin/ctr", "/var/lib/rancher/rke2/bin/ctr")
SOCKETS = ("/run/k3s/containerd/containerd.sock", "/run/containerd/containerd.sock")
# How registries are reached, as the kubelet's containerd is told it.
HOSTS = (
    "/var/lib/rancher/k3s/agent/etc/containerd/certs.d",
    "/var/lib/rancher/rke2/agent/etc/containerd/certs.d",
    "/etc/containerd/certs.d",
)
# What containerd writes to; the last is there everywhere.
STORES = (
    "/var/lib/rancher/k3s/agent/containerd",
    "/var/lib/rancher/rke2/agent/containerd",
    "/var/lib/containerd",
    "/",
)
LOOK_LIMIT = 60.0
PULL_LIMIT = 1800.0


@record
class Images:
    """The kubelet's images, through whatever the node has; `logins` are by registry."""

    programs: Programs
    logins: Mapping[str, dict]

    @cached_property
    def _crictl(self) -> list[str] | None:
        """crictl, where it is here and answers; else containerd's own program has to do."""
        program, socket = find(*CRICTL), _socket()
        if program is None or socket is None:
            return None
        # Its own settings may name another runtime. A file that is not there ends it, an empty one
        # is no settings.
        command = [program, f"--config={os.devnull}", f"--runtime-endpoint=unix://{socket}"]
        return command if self._run([*command, "version"]).code == 0 else None

    def missing(self, references: list[str]) -> list[str]:
        """Those of the images that are not here and could be fetched; others are the kubelet's."""
        ctr = _ctr()
        if self._crictl:
            return [one for one in references if not self._is_here(self._crictl, one)]
        if ctr:
            known = set(self._run([*ctr, "images", "ls", "-q"]).out.split())
            # It takes logins on its command line alone, which anybody on the node can read.
            return [
                one
                for one in references
                if full_name(one) not in known and not _credentials(self._login(one))
            ]
        return []

    def store(self) -> str:
        """The folder that holds images and containers."""
        return next(path for path in STORES if os.path.isdir(path))

    def pull(self, reference: str, login: dict | None, heard: Callable[[bytes], None]) -> None:
        """Fetch an image that is missing; raises the error of the class of what went wrong.

        Neither program tells of its progress: what came is seen in containerd's own folder.
        """
        if self._crictl:
            words, more = [*self._crictl, "pull", reference], _credentials(login)
        else:
            hosts = next((path for path in HOSTS if os.path.isdir(path)), None)
            told = ["--hosts-dir", hosts] if hosts else []
            words, more = [*(_ctr() or []), "images", "pull", *told, full_name(reference)], {}
        before = self._came()
        # Several at once, and an orphan does no harm: none of them holds the deployment's lock.
        programs = Programs(safe_point=lambda: heard(b""))
        ran = programs.run(words, PULL_LIMIT, {"HOME": "/nonexistent", **more})
        if ran.code != 0:
            if self._came() != before:
                heard(SOME_CAME)
            said = ran.err.strip().splitlines()[-1:] or ["nothing came in time"]
            raise pull_error(reference, said[0])

    def _came(self) -> tuple[int, int]:
        """How many layers are here, and how many bytes of those that are on their way."""
        content = os.path.join(self.store(), "io.containerd.content.v1.content")
        coming = glob.glob(os.path.join(glob.escape(content), "ingest", "*", "data"))
        layers = glob.glob(os.path.join(glob.escape(content), "blobs", "*", "*"))
        return len(layers), sum(_size(path) for path in coming)

    def _login(self, reference: str) -> dict | None:
        return self.logins.get(registry_of(reference))

    def _is_here(self, crictl: list[str], reference: str) -> bool:
        ran = self._run([*crictl, "inspecti", "-o", "json", reference])
        return ran.code == 0 and "status" in json.loads(ran.out or "{}")

    def _run(self, command: list[str]) -> Ran:
        return self.programs.run(command, LOOK_LIMIT, {"HOME": "/nonexistent"})


def _credentials(login: dict | None) -> dict[str, str]:
    """The login as crictl takes it from its environment, which root alone reads."""
    if not login or not login.get("username"):
        return {}
    return {"CRICTL_CREDS": f"{login['username']}:{login.get('password') or ''}"}


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0  # it arrived, or was given up, meanwhile


def full_name(reference: str) -> str:
    """An image's name as containerd keeps it: with registry, and with a tag or a digest."""
    if registry_of(reference) == "docker.io" and not reference.startswith("docker.io/"):
        reference = f"docker.io/{'' if '/' in reference else 'library/'}{reference}"
    last = reference.rpartition("/")[2]
    return reference if ":" in last or "@" in last else f"{reference}:latest"


def _ctr() -> list[str] | None:
    program, socket = find(*CTR), _socket()
    return [program, "--address", socket, "--namespace", "k8s.io"] if program and socket else None


def _socket() -> str | None:
    return next((path for path in SOCKETS if os.path.exists(path)), None)
