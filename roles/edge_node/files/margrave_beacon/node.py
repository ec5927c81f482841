"""What can be seen of the node itself."""

from __future__ import annotations

import shutil

from .engine import TROUBLE, Engine

STATE = "/var/lib"
# Below this the next update of even a small application is a gamble.
LOW_DISK = 512 * 1024**2
LONGEST_PROBLEM = 200
MOST_PROBLEMS = 10


def problems(engine: Engine) -> list:
    """What an operator should read of this node; nothing when it is well."""
    found = []
    free = shutil.disk_usage(STATE).free
    if free < LOW_DISK:
        found.append(f"disk: {free // 1024**2} MiB free below {STATE}")
    if not engine.place:
        found.append("engine: neither podman nor Docker has a socket here")
    else:
        try:
            engine.containers()
        except TROUBLE as error:
            found.append(f"engine: {engine.place}: {error}")
    return [one[:LONGEST_PROBLEM] for one in found[:MOST_PROBLEMS]]


def memory() -> dict:
    """Bytes by the kernel's names."""
    found = {"MemAvailable": 0, "MemTotal": 0}
    for line in read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if name in found:
            found[name] = int(rest.split()[0]) * 1024
    return found


def containers(engine: Engine) -> dict:
    """How many containers of deployments there are, by state."""
    counted = {"running": 0, "exited": 0, "other": 0}
    try:
        for one in engine.containers() if engine.place else ():
            counted[one.get("State") if one.get("State") in counted else "other"] += 1
    except TROUBLE:
        return counted  # told among the problems
    return counted


def read(path: str) -> str:
    """A file of the kernel's; empty when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
