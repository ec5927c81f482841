"""A wall clock of a process that a test sets while the process runs, with Debian's faketime.

Run as a program it is the process: `faked_clock.py COMMAND ARGUMENT...`, COMMAND a Python script.
"""

from __future__ import annotations

import os
import runpy
import select
import sys
import time
from collections.abc import Mapping
from pathlib import Path

LIBRARY = "/usr/lib/{}/faketime/libfaketime.so.1"


class FakedClock:
    """Sets the wall clock of one process; its monotonic clock stays as it is."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set(0)

    def set(self, seconds: int) -> None:
        """Put the clock so far ahead of the real one, or behind it."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.rename(self._file)  # the process reads it at each look at the clock

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables of the process."""
        library = LIBRARY.format(f"{os.uname().machine}-linux-gnu")
        if not Path(library).exists():
            raise FileNotFoundError(f"{library}: install faketime (.ci/system-packages test)")
        return {
            **os.environ,
            "LD_PRELOAD": library,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_NO_CACHE": "1",
            "NO_FAKE_STAT": "1",
        }

    def command(self, *words: str) -> list[str]:
        """Return the command of the process."""
        return [sys.executable, __file__, *words]


def main() -> None:
    """Become the command."""
    # The library answers EINVAL to the call that Python's own sleep makes.
    time.sleep = lambda seconds: select.select([], [], [], seconds)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
