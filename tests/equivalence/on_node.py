"""Print the containers of all deployments with the content behind their mounts; runs on a node.

Standard input is JSON: the engine, and by service the paths that a container has to have besides
its mounts. Standard output is the engine's own inspection of each container, with two more keys:
`Trees`, the files that a process in the container sees at each path, and `Missing`, mount sources
that do not exist.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from typing import Any

LABEL = "margrave.deployment"
SERVICE = "com.docker.compose.service"
SHORT = 200


def entry(path: str) -> list[object]:
    """Describe one file or folder, without following links."""
    status = os.lstat(path)
    described: list[object] = [oct(status.st_mode & 0o7777), status.st_uid, status.st_gid]
    if stat.S_ISLNK(status.st_mode):
        return [*described, "-> " + os.readlink(path)]
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            data = file.read()
        text = data.decode(errors="replace") if len(data) <= SHORT else ""
        return [*described, text or hashlib.sha256(data).hexdigest()]
    return described


def tree(root: str, path: str) -> dict[str, list[object]] | None:
    """Describe the files at and below a path of a container, or return None."""
    top = root + path
    if not os.path.lexists(top):
        return None
    entries = {"": entry(top)}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            full = os.path.join(folder, name)
            entries[full[len(top) :]] = entry(full)
    return entries


def describe(inspected: dict[str, Any], expected: dict[str, list[str]]) -> dict[str, Any]:
    """Add content and missing sources to an inspected container."""
    binds = [mount for mount in inspected.get("Mounts") or [] if mount.get("Type") == "bind"]
    inspected["Missing"] = sorted(
        mount["Source"] for mount in binds if not os.path.exists(mount["Source"])
    )
    pid = inspected["State"].get("Pid")
    service = (inspected["Config"].get("Labels") or {}).get(SERVICE, "")
    paths = {mount["Destination"] for mount in binds} | set(expected.get(service, []))
    inspected["Trees"] = {path: tree(f"/proc/{pid}/root", path) for path in paths} if pid else {}
    return inspected


def main() -> None:
    """Print the list."""
    given = json.load(sys.stdin)
    engine = given["engine"]
    names = subprocess.run(
        [engine, "ps", "-aq", "--no-trunc", "--filter", "label=" + LABEL],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    containers = []
    if names:
        ran = subprocess.run(
            [engine, "container", "inspect", *names], check=True, capture_output=True, text=True
        )
        containers = json.loads(ran.stdout)
    json.dump([describe(inspected, given["expected"]) for inspected in containers], sys.stdout)


main()
