"""File for emergency changes that neither Git nor the database takes now.

Its room is reserved beforehand, so a full disk takes them too. Records are appended, each with a
checksum: what a power cut tore is left out.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SIZE: Final = 256 * 1024
_MODE: Final = 0o600


class Journal:
    """Values by name, in the order in which they came."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._end = 0
        self._open: dict[str, Any] = {}
        self._file: int | None = None

    def read(self) -> dict[str, Any]:
        """Reserve the room, and return what an earlier process left."""
        with self._lock:
            try:
                self._opened()
            except OSError as error:
                raise self._unreachable(error) from error
            return dict(self._open)

    def add(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep a value over any end of the process; Unreachable when that is not possible."""
        with self._lock:
            self._write(name, value)
            self._open[name] = value

    def done(self, name: str) -> None:
        """Forget a value."""
        with self._lock:
            if name not in self._open:
                return
            del self._open[name]
            if self._open:
                self._write(name, None)
            else:  # a single byte: it is written whole or not at all
                self._put(0, b"\0")
                self._end = 0

    def _write(self, name: str, value: Mapping[str, Any] | None) -> None:
        text = json.dumps({"name": name, "value": value}).encode()
        record = b"%08x %s\n\0" % (zlib.crc32(text), text)
        file_end = self._end + len(record)
        if file_end > SIZE:
            raise Unreachable("too many emergency changes wait", "see /readyz for what they wait")
        self._put(self._end, record)
        self._end = file_end - 1

    def _put(self, at: int, data: bytes) -> None:
        try:
            file = self._opened()
            os.pwrite(file, data, at)
            os.fdatasync(file)
        except OSError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: OSError) -> Unreachable:
        words = f"{self._path} cannot be written: {error.strerror}"
        return Unreachable(words, "make room there and try again")

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
            if os.fstat(self._file).st_size < SIZE:
                os.posix_fallocate(self._file, 0, SIZE)
            for end, name, value in _records(os.pread(self._file, SIZE, 0)):
                self._end = end
                self._open[name] = value
                if value is None:
                    del self._open[name]
        return self._file


def _records(data: bytes) -> Iterator[tuple[int, str, Any]]:
    """Yield the end, the name and the value of each record that is whole."""
    begin = 0
    while (end := data.find(b"\n", begin)) >= 0:
        checksum, _, text = data[begin:end].partition(b" ")
        if checksum != b"%08x" % zlib.crc32(text):
            return
        record = json.loads(text)
        begin = end + 1
        yield begin, record["name"], record["value"]
