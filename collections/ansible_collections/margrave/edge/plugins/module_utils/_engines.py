# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which container engines are on the node, and which of them a deployment runs on."""

from __future__ import annotations

import os

from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError

SOCKETS = (
    ("podman", "/run/podman/podman.sock"),
    ("docker", "/run/docker.sock"),
    ("docker", "/var/run/docker.sock"),
)
# Which of two the node's role set up; where it says nothing, podman goes before Docker.
WISH = "/etc/margrave/engine"


def all_here() -> list[Engine]:
    """Every engine whose socket is there, podman first; podman's Docker socket is podman."""
    found: dict[str, Engine] = {}
    for name, path in SOCKETS:
        if os.path.exists(path):
            found.setdefault(os.path.realpath(path), Engine(name, path))
    return list(found.values())


def detect() -> Engine | None:
    """The engine that gets what is new here."""
    wanted = _wished()
    return next((one for one in all_here() if wanted in ("", one.name)), None)


def required(name: str = "") -> Engine:
    """The engine of that name, or the one for what is new; EngineError tells how to get one.

    What runs on one engine is never made on another, because that one is there too: it would run
    twice.
    """
    name = name or _wished()
    engine = next((one for one in all_here() if name in ("", one.name)), None)
    if engine is not None:
        return engine
    if name:
        raise EngineError(
            "engine-away",
            f"{name}, which it has to run on, has no socket here",
            f"start it: systemctl enable --now {name}.socket",
        )
    raise EngineError(
        "no-engine",
        "no container engine: neither " + " nor ".join(path for _name, path in SOCKETS[:2]),
        "install podman and docker-compose, then: systemctl enable --now podman.socket",
    )


def holding(label: str) -> str:
    """The engine that has containers with the label, where there is a choice; else nothing."""
    here = all_here()
    if len(here) < 2:
        return ""
    return next((one.name for one in here if one.containers([label])), "")


def _wished() -> str:
    try:
        with open(WISH, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
