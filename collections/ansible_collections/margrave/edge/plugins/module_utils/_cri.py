# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images in the kubelet's own store, where the node has crictl: fetched before anything stops."""

from __future__ import annotations

import json
import os

from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs, find
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error

PROGRAMS = ("/usr/local/bin/crictl", "/usr/bin/crictl", "/var/lib/rancher/rke2/bin/crictl")
SOCKETS = (
    "/run/k3s/containerd/containerd.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
)
LOOK_LIMIT = 60.0
PULL_LIMIT = 1800.0


def missing(programs: Programs, references: list[str]) -> list[str]:
    """Those of the images that are not here; none where the node cannot tell."""
    command = _command()
    if command is None:
        return []
    return [one for one in references if not _is_here(programs, command, one)]


def _is_here(programs: Programs, command: list[str], reference: str) -> bool:
    ran = programs.run([*command, "inspecti", "-o", "json", reference], LOOK_LIMIT, {})
    return ran.code == 0 and "status" in json.loads(ran.out or "{}")


def pull(programs: Programs, reference: str, login: dict | None) -> None:
    """Fetch an image; raises the error of the class that the failure belongs to."""
    command = _command()
    if command is None:
        raise EngineError("no-crictl", "crictl is gone from this node", "install cri-tools")
    ran = programs.run([*command, "pull", reference], PULL_LIMIT, _environment(login))
    if ran.code != 0:
        words = ran.err.strip().splitlines()[-1:] or ["nothing came in time"]
        raise pull_error(reference, words[0])


def _environment(login: dict | None) -> dict[str, str]:
    """The login as crictl takes it: never in the process list."""
    if not login or not login.get("username"):
        return {}
    return {"CRICTL_AUTH": f"{login['username']}:{login.get('password') or ''}"}


def _command() -> list[str] | None:
    program = find(*PROGRAMS)
    socket = next((path for path in SOCKETS if os.path.exists(path)), None)
    if program is None or socket is None:
        return None
    return [program, "--config=/nonexistent", f"--runtime-endpoint=unix://{socket}"]
