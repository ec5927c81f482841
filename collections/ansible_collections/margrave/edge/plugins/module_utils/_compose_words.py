# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Docker Compose says of a start or an end that failed, and whose trouble it is."""

from __future__ import annotations

import re

from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConfigError,
    DiskError,
    EdgeError,
    EngineError,
    HealthError,
)

# podman keeps its containers' states in a database, which has words of its own for a full disk.
DISK_IS_FULL = ("no space left", "disk is full")
START_ERRORS = (
    (DiskError, "disk-full", "make room on the node", DISK_IS_FULL),
    (
        EngineError,
        "name-taken",
        "remove or rename the foreign container, or leave container_name to Compose",
        ("name is already in use", "is already in use by", "that name is already"),
    ),
    (
        EngineError,
        "port-taken",
        "free the port on the node, or give the application another",
        ("port is already allocated", "address already in use"),
    ),
    (
        HealthError,
        "not-healthy",
        "look at the container's log on the node",
        ("unhealthy", "exited (", "dependency failed", "didn't complete successfully"),
    ),
    (
        ConfigError,
        "cannot-start",
        "mend the command or the mounts and publish the application again",
        ("executable file", "no such file or directory", "permission denied", "invalid mount"),
    ),
)


def stop_error(words: str) -> EdgeError:
    """The error for what Compose says of an end that failed: a full disk is no engine trouble."""
    if any(sign in words.lower() for sign in DISK_IS_FULL):
        return DiskError("disk-full", words, "make room on the node")
    cure = "look at the containers on the node; the next call tries again"
    return EngineError("down-failed", words, cure)


def start_error(words: str) -> EdgeError:
    """The error for Compose's words about a start that failed."""
    lower = words.lower()
    for error, code, cure, signs in START_ERRORS:
        if any(sign in lower for sign in signs):
            return error(code, words, cure)
    return EngineError("up-failed", words, "look at the engine's journal on the node")


def tidy(err: str) -> str:
    """The last thing that Compose said, without its progress and its colours."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", err)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    told = [
        line
        for line in lines
        if not re.match(r"(Container|Network|Volume) ", line) and "level=warning" not in line
    ]
    return " ".join(told[-3:] or lines[-3:])[:1000]
