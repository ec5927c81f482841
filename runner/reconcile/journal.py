"""What operations say while they run: a file each, and lines for the report, a few at a time."""

from __future__ import annotations

import threading
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Final

from runner.ports import Progress
from runner.store import Store, Transaction, outbox
from runner.store.resources import moment

# A line in the outbox costs a write to disk: several travel together.
_SPAN: Final = timedelta(seconds=1)
_KEPT_FILES: Final = 200
# Reports of log lines that wait: some thousand operations, a few megabytes.
_LOGS_KEPT: Final = 5_000
_BOUND_EVERY: Final = 100


class Journal:
    """Log lines by operation."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder
        self._store = store
        self._lock = threading.Lock()
        self._lines: dict[str, list[Progress]] = defaultdict(list)
        self._reports = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def path(self, operation: str) -> Path:
        """The operation's log file."""
        return self._folder / f"{operation}.log"

    def add(self, progress: Progress) -> None:
        """Keep a line; now and then what gathered becomes a report."""
        with self._lock:
            with self.path(progress.operation).open("a", encoding="utf-8") as file:
                file.write(f"{moment(progress.at)} {progress.line}\n")
            lines = self._lines[progress.operation]
            lines.append(progress)
            full = progress.at - lines[0].at >= _SPAN
        if full:
            with self._store.write() as tx:
                self.flush(tx, progress.operation)

    def flush(self, tx: Transaction, operation: str) -> None:
        """Report what gathered."""
        with self._lock:
            lines = self._lines.pop(operation, [])
        if lines:
            texts = [one.line for one in lines]
            at = moment(lines[-1].at)
            outbox.append(tx, "log", {"operation": operation, "lines": texts, "at": at})
            self._bound(tx)

    def _bound(self, tx: Transaction) -> None:
        """Days without a controller must not fill the disk; looked at now and then, as it costs."""
        self._reports += 1
        if self._reports % _BOUND_EVERY == 0:
            outbox.shorten_logs(tx, _LOGS_KEPT)

    def tidy(self) -> None:
        """Remove the oldest files."""
        files = sorted(self._folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
        for path in files[:-_KEPT_FILES]:
            path.unlink(missing_ok=True)
