"""What a power cut at this very moment would leave of a node's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab import Lab
from lab.layout import Layout

# Where the disk of a lab's node holds what differs from the base that all nodes share.
UPPER = "/upper"
REPAIRED = 1  # e2fsck's word for a disk that is right now


def rescued(lab: Lab, node: str, path: str, folder: Path) -> Path:
    """A copy of a node's folder with what has reached its disk, which is a file of this machine."""
    copy = folder / "disk.img"
    image = Layout(lab.name).node(node).image
    subprocess.run(["cp", "--sparse=always", str(image), str(copy)], check=True)
    checked = subprocess.run(
        ["e2fsck", "-fy", str(copy)], capture_output=True, text=True, check=False
    )
    assert checked.returncode <= REPAIRED, checked.stdout
    dump = ["debugfs", "-R", f"rdump {UPPER}{path} {folder}", str(copy)]
    subprocess.run(dump, capture_output=True, check=True)
    copy.unlink()
    return folder / Path(path).name
