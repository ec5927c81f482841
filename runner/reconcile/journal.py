"""What operations say while they run: a file each, and lines for the report, a few at a time."""

from __future__ import annotations

import gzip
import logging
import shutil
import threading
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from runner.ports import Progress
from runner.store import Store, Transaction, outbox
from runner.store.resources import moment

_log = logging.getLogger(__name__)

# A line in the outbox costs a write to disk: several travel together.
_SPAN: Final = 1.0
_KEPT_FILES: Final = 1_000  # compressed, a few kilobytes each
# Reports of log lines that wait: some thousand operations, a few megabytes.
_LOGS_KEPT: Final = 5_000
_BOUND_EVERY: Final = 100


class Journal:
    """Log lines by operation: plain while it runs, compressed when it has ended."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder
        self._store = store
        self._lock = threading.Lock()
        self._lines: dict[str, list[Progress]] = defaultdict(list)
        self._timer: threading.Timer | None = None
        self._stopped = False
        self._reports = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def path(self, operation: str) -> Path:
        """Where the operation's log lies once it has ended."""
        return self._folder / f"{operation}.log.gz"

    def read(self, operation: str) -> str:
        """What the operation said; nothing when that is not kept."""
        for file, opened in ((self.path(operation), gzip.open), (self._open(operation), open)):
            try:
                with opened(file, "rt", encoding="utf-8") as text:
                    return str(text.read())
            except FileNotFoundError:
                continue
        return ""

    def add(self, progress: Progress) -> None:
        """Keep a line; what gathers within a second becomes one report."""
        with self._lock:
            self._lines[progress.operation].append(progress)
            if self._timer is None and not self._stopped:
                self._timer = threading.Timer(_SPAN, self._report)
                self._timer.daemon = True
                self._timer.start()
            with self._open(progress.operation).open("a", encoding="utf-8") as file:
                file.write(f"{moment(progress.at)} {progress.line}\n")

    def flush(self, tx: Transaction, operation: str) -> None:
        """Report what gathered."""
        with self._lock:
            lines = self._lines.pop(operation, [])
        if lines:
            texts = [one.line for one in lines]
            at = moment(lines[-1].at)
            outbox.append(tx, "log", {"operation": operation, "lines": texts, "at": at})
            self._bound(tx)

    def close(self, operation: str) -> None:
        """The operation has ended: its log is compressed. One that cannot be stays as it is."""
        plain = self._open(operation)
        try:
            with self._lock, plain.open("rb") as lines:
                # Appended as a part of its own where there was one: a reader sees one text.
                with gzip.open(self.path(operation), "ab") as compressed:
                    shutil.copyfileobj(lines, compressed)
                plain.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            _log.warning("%s cannot be compressed: %s", plain, error)

    def tidy(self, before: datetime, at_work: Iterable[str]) -> None:
        """Compress what was left open, and remove what is older, or the oldest of too many."""
        running = set(at_work)
        for plain in self._folder.glob("*.log"):
            if plain.stem not in running:
                self.close(plain.stem)
        ages = sorted((one.stat().st_mtime, one) for one in self._folder.glob("*.log.gz"))
        for number, (written, path) in enumerate(reversed(ages)):
            if number >= _KEPT_FILES or written < before.timestamp():
                path.unlink(missing_ok=True)

    def stop(self) -> None:
        """Report nothing any more by itself."""
        with self._lock:
            self._stopped = True
            if self._timer is not None:
                self._timer.cancel()

    def _open(self, operation: str) -> Path:
        """Where the lines of an operation stand while it runs."""
        return self._folder / f"{operation}.log"

    def _report(self) -> None:
        """Tell what has gathered, however long the next line is in coming."""
        with self._lock:
            self._timer = None
            waiting = list(self._lines)
        try:
            with self._store.write() as tx:
                for operation in waiting:
                    self.flush(tx, operation)
        except Exception:  # noqa: BLE001
            # They stand in the operation's file: a report of them that is lost ends nothing.
            _log.exception("lines of running operations could not be reported")

    def _bound(self, tx: Transaction) -> None:
        """Days without a controller must not fill the disk; looked at now and then, as it costs."""
        self._reports += 1
        if self._reports % _BOUND_EVERY == 0:
            outbox.shorten_logs(tx, _LOGS_KEPT)
