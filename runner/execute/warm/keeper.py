"""Starts the warm process, begins it again when it ends, and ends it with the runner."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from runner.execute.folders import Folders

SERVER: Final = Path(__file__).parent / "serve.py"
# Which column an error stands in is nobody's question there, and costs memory.
PYTHON: Final = (sys.executable, "-I", "-X", "no_debug_ranges")
AGAIN: Final = 30  # seconds after an end that was not asked for; runs go the plain way meanwhile


class Keeper:
    """Keeps one warm process alive; without it runs are slower and nothing else."""

    def __init__(self, folders: Folders, environment: Mapping[str, str]) -> None:
        self._folders = folders
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True, name="warm")

    def start(self) -> None:
        """Begin in the background; the first runs go the plain way until it is warm."""
        self._thread.start()

    def stop(self) -> None:
        """End the process; its runs have been ended before."""
        self._stopped.set()
        if self._process is not None:
            self._process.kill()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _keep(self) -> None:
        while not self._stopped.is_set():
            # Standard input is a pipe that only we hold: it closes with us, however we end.
            with subprocess.Popen(
                [*PYTHON, str(SERVER), str(self._folders.warm_socket)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(self._environment),
                cwd=self._folders.root,
                start_new_session=True,
            ) as process:
                self._process = process
                process.wait()
            self._folders.warm_socket.unlink(missing_ok=True)
            self._stopped.wait(AGAIN)
