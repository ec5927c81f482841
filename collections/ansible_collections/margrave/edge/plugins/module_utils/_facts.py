# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node is and whether it can do its work: capabilities and checks, read only."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time

from ansible_collections.margrave.edge.plugins.module_utils import _kubernetes
from ansible_collections.margrave.edge.plugins.module_utils._compose import find, numbers
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._engines import detect, required
from ansible_collections.margrave.edge.plugins.module_utils._errors import EdgeError, EngineError
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._layout import STORES
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "riscv64": "riscv64"}
# Below this an update of even small images is a gamble.
LOW_DISK = 1024**3
HELM = (3, 13)
# No product of this kind existed before; a clock that says so has lost its battery.
EARLIEST = 1735689600.0


def gather() -> dict:
    """Capabilities as placement reads them, and the checks that a node must pass."""
    engine, kubernetes = detect(), _kubernetes.detect()
    engines, types, checks = [], [], []
    # A node with Kubernetes alone lacks nothing.
    if engine is not None or kubernetes is None:
        version, (compose, trouble) = _engine_version(engine), _compose_version(engine)
        if engine is not None:
            engines.append({"name": engine.name, "version": version, "compose": compose})
        types += ["compose"] if version and compose else []
        cure = "install docker-compose 2.17+"
        checks += [
            _engine(engine, version),
            check("compose", bool(compose), compose or trouble, cure),
        ]
    if kubernetes is not None:
        cluster = Cluster(kubernetes, Programs())
        version, helm = cluster.version(), cluster.helm_version()
        engines.append({"name": "kubernetes", "version": version, "helm": helm})
        types += ["helm"] if version and numbers(helm) >= HELM else []
        checks += _kubernetes_checks(version, helm)
    return {
        "capabilities": {
            "architecture": ARCHITECTURES.get(platform.machine(), "other"),
            "cpus": os.cpu_count() or 1,
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "storage": shutil.disk_usage(_store()).total,
            "os": _os_name(),
            "kernel": platform.release(),
            "python": platform.python_version(),
            "engines": engines,
            "deployment_types": types,
        },
        "checks": [_python(), *checks, _disk(), _clock()],
    }


def _kubernetes_checks(version: str, helm: str) -> list[dict]:
    cure = "look at it: systemctl status k3s, kubectl get nodes"
    told = f"Kubernetes {version or 'does not answer'}"
    old = "install Helm 3.13 or newer"
    return [
        check("kubernetes", bool(version), told, cure),
        check("helm", numbers(helm) >= HELM, helm or "does not answer", old),
    ]


def check(name: str, ok: bool, detail: str, cure: str) -> dict:
    """One check; the cure is told only where one is needed."""
    return {"name": name, "ok": ok, "detail": detail, "cure": "" if ok else cure}


def _compose_version(engine: Engine | None) -> tuple[str, str]:
    if engine is None:
        return "", "no engine to work with"
    try:
        return find(engine, Programs()).version(), "does not answer"
    except EdgeError as error:
        return "", error.message


def _engine_version(engine: Engine | None) -> str:
    try:
        return engine.version() if engine else ""
    except EdgeError:
        return ""  # told by the check below


def _python() -> dict:
    enough = sys.version_info >= (3, 9)
    return check("python", enough, platform.python_version(), "install Python 3.9 or newer")


def _engine(engine: Engine | None, version: str) -> dict:
    cure = "install podman, then: systemctl enable --now podman.socket"
    if engine is None:
        return check("engine", False, *_missing())
    return check("engine", bool(version), f"{engine.name} {version or 'does not answer'}", cure)


def _missing() -> tuple[str, str]:
    """What is missing, and its cure: an engine at all, or the one that the node is set up with."""
    try:
        required()
    except EngineError as error:
        return error.message, error.cure
    return "it came just now", "look again"


def _disk() -> dict:
    free = shutil.disk_usage(_store()).free
    detail = f"{free // 1024**2} MiB free below {_store()}"
    return check("disk", free >= LOW_DISK, detail, "make room: 1 GiB at least")


def _clock() -> dict:
    now = time.time()
    detail = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    return check("clock", now > EARLIEST, detail, "set the clock: timedatectl set-ntp true")


def _store() -> str:
    return next(path for path in STORES if os.path.isdir(path))


def _os_name() -> str:
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            pairs = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    except OSError:
        return platform.system()
    return pairs.get("PRETTY_NAME", platform.system()).strip('"')
