# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check mode's question to registries: do the images exist that are not on the node?

Only manifests are read. Docker has a request for that. Podman's request ignores logins, so where
there is one its command asks.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._engine import (
    FIRST_SILENCE,
    NO_LIST,
    Engine,
    without_tag,
)
from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._programs import find
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import (
    pull_error,
    pull_silent,
)

PODMAN = ("/usr/bin/podman", "/usr/local/bin/podman")
SETTINGS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
# Older ones have no such option.
NO_OPTION = "unknown flag"


def check(call: Call, engine: Engine, references: Iterable[str]) -> None:
    """Ask for each image's manifest; raise what went wrong first."""
    for reference in references:
        login = call.request.logins.get(registry_of(reference)) or {}
        podman = find(*PODMAN) if engine.name == "podman" and login.get("username") else None
        if podman:
            _ask_with_login(call, podman, reference, login)
        else:
            engine.check_manifest(reference, login, lambda _line: call.safe_point())


def _ask_with_login(call: Call, podman: str, reference: str, login: dict) -> None:
    """Let podman's command read a manifest; the login is in memory, for that process alone."""
    words = f"{login['username']}:{login.get('password') or ''}"
    auth = {"auths": {login["host"]: {"auth": base64.b64encode(words.encode()).decode()}}}
    handle = os.memfd_create("auth")
    try:
        os.write(handle, json.dumps(auth).encode())
        command = [podman, "manifest", "inspect", "--authfile", f"/proc/self/fd/{handle}"]
        command.append(without_tag(reference))
        ran = call.programs.run(command, FIRST_SILENCE, SETTINGS, (handle,))
    finally:
        os.close(handle)
    if ran.code is None:
        raise pull_silent(reference, FIRST_SILENCE)
    if NO_OPTION in ran.err:
        call.result.warn(f"image {reference} was not looked for: this podman takes no login for it")
    elif ran.code != 0 and NO_LIST.decode() not in ran.err:
        raise pull_error(reference, ran.err.strip())
