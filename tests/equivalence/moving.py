"""An image of the lab's registry whose tag moves."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from lab import Lab, definitions
from tests.equivalence.services import MOVING


class MovingImage:
    """An image of the lab's registry whose tag names other content now and then."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._now = 0

    def name(self, content: int) -> None:
        """Let the tag name this content."""
        if content == self._now:
            return
        name, _, tag = MOVING.partition(":")
        with tempfile.TemporaryDirectory(prefix="equivalence-") as base:
            idle = definitions.OURS / "idle"
            folder = Path(base) / name
            shutil.copytree(idle / "files", folder / "files")
            shutil.copy(idle / "image.toml", folder)
            (folder / f"tags/{tag}/etc").mkdir(parents=True)
            (folder / f"tags/{tag}/etc/version").write_text(f"moving {content}\n")
            self._lab.push_images(Path(base))
        self._now = content
