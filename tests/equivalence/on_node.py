"""Prints the containers of all deployments with the content behind their mounts; runs on the node.

Standard input is JSON: the engine, and by service the paths that a container has to have besides
its mounts. Standard output is the engine's own inspection of each container, with two more keys:
`Trees`, what a process in the container finds at each path, and `Missing`, mount sources that are
not there.
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
    seen = os.lstat(path)
    told: list[object] = [oct(seen.st_mode & 0o7777), seen.st_uid, seen.st_gid]
    if stat.S_ISLNK(seen.st_mode):
        return [*told, "-> " + os.readlink(path)]
    if stat.S_ISREG(seen.st_mode):
        with open(path, "rb") as file:
            data = file.read()
        text = data.decode(errors="replace") if len(data) <= SHORT else ""
        return [*told, text or hashlib.sha256(data).hexdigest()]
    return told


def tree(root: str, path: str) -> dict[str, list[object]] | None:
    """Describe what lies at and below a path of a container; None where nothing does."""
    top = root + path
    if not os.path.lexists(top):
        return None
    found = {"": entry(top)}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            full = os.path.join(folder, name)
            found[full[len(top) :]] = entry(full)
    return found


def container(told: dict[str, Any], expected: dict[str, list[str]]) -> dict[str, Any]:
    """Add content and missing sources to what an engine tells of a container."""
    binds = [one for one in told.get("Mounts") or [] if one.get("Type") == "bind"]
    told["Missing"] = sorted(one["Source"] for one in binds if not os.path.exists(one["Source"]))
    pid = told["State"].get("Pid")
    service = (told["Config"].get("Labels") or {}).get(SERVICE, "")
    paths = {one["Destination"] for one in binds} | set(expected.get(service, []))
    told["Trees"] = {path: tree(f"/proc/{pid}/root", path) for path in paths} if pid else {}
    return told


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
    told = []
    if names:
        ran = subprocess.run(
            [engine, "container", "inspect", *names], check=True, capture_output=True, text=True
        )
        told = json.loads(ran.stdout)
    json.dump([container(one, given["expected"]) for one in told], sys.stdout)


main()
