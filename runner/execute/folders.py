"""Where a runner's executions keep their files, all of them private to its user."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from margrave.errors import Refused

# A socket's path holds 107 bytes; ssh appends 1 + 10 of the name and 17 while it makes one.
ROOM_FOR_SOCKET: Final = 107 - 28


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders and files of one state folder's executions."""

    root: Path

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.root / "ansible.cfg"

    @property
    def known_hosts(self) -> Path:
        return self.root / "known_hosts"

    @property
    def control(self) -> Path:
        """Where SSH's control sockets lie: a short path, the same after each start."""
        own = self.root / "c"
        if len(os.fsencode(own)) <= ROOM_FOR_SOCKET:
            return own
        mark = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"margrave-{os.getuid()}-{mark}"

    @property
    def warm_socket(self) -> Path:
        return self.control / "warm"

    def make(self) -> None:
        """Create what is missing; an existing folder of somebody else is refused."""
        for folder in (self.root, self.runs, self.home, self.control):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = self.control.lstat()
        if found.st_uid != os.getuid() or found.st_mode & 0o077 or self.control.is_symlink():
            raise Refused(
                f"{self.control}: not a private folder of this user",
                "remove it and start again",
            )
        # A configuration of our own keeps /etc/ansible and the user's away. What it sets has no
        # environment variable: looking for results every 1 ms costs a third of a core, every
        # 5 ms a quarter of what a run of twenty nodes takes beside its workers.
        self.config.write_text("[defaults]\ninternal_poll_interval = 0.02\n", encoding="utf-8")

    def remove_runs(self) -> None:
        """Take away what runs that are over, or were killed, have left."""
        shutil.rmtree(self.runs, ignore_errors=True)
        shutil.rmtree(self.home / ".ansible" / "tmp", ignore_errors=True)
