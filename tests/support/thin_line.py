"""A line to a Git server that is thin: an `ssh` that ends early, or takes its time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# Its last argument is the command for the other side, which is this machine.
_SSH: Final = """#!/bin/sh
for command; do :; done
{way}
"""


class ThinLine:
    """In a folder that is to stand first in PATH."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._program = folder / "ssh"
        self.folder = folder
        self.carries_all()

    def carries_all(self, after: float = 0) -> None:
        """Everything comes through, beginning after so many seconds."""
        self._write(f'sleep {after}; exec sh -c "$command"')

    def breaks_off(self, most: int) -> None:
        """Each connection ends after so many bytes from the other side."""
        # dd hands on each byte as it comes; head would wait for more, and both sides for it.
        self._write(f'sh -c "$command" | dd bs=1 count={most} status=none')

    def _write(self, way: str) -> None:
        self._program.write_text(_SSH.format(way=way))
        self._program.chmod(0o755)
