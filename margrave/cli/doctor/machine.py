"""This machine: what controller and runner need of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from margrave.cli.doctor.check import Check, bad, good

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHERE = "machine"
PROGRAMS = {
    "git": "the deployments repository and app sources are read with it",
    "ssh": "Ansible reaches the nodes with it",
}
# Databases and clones are small; what fills a disk is logs and images, and quickly.
LEAST_FREE = 1 * 2**30


def look(folder: Path) -> Iterator[Check]:
    """Programs, and room in this folder."""
    for name, why in PROGRAMS.items():
        found = shutil.which(name)
        yield (
            good(WHERE, name, found)
            if found
            else bad(WHERE, name, f"is not on PATH: {why}", f"install {name}")
        )
    yield _disk(folder)


def _disk(folder: Path) -> Check:
    usage = shutil.disk_usage(folder)
    free = f"{usage.free / 2**30:.1f} GiB free"
    if usage.free < LEAST_FREE:
        return bad(WHERE, "disk", f"only {free} at {folder}", "make room, or move state.dir")
    return good(WHERE, "disk", free)
