"""The host keys that onboarding pinned, as the file that ssh reads."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from runner.ports import Target


class KnownHosts:
    """One file for all runs, so that a connection that lives on is known to the next run too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: dict[str, str] = {}
        self._lock = threading.Lock()

    def know(self, nodes: Iterable[Target]) -> None:
        """Write down these nodes' keys; a node without one stays unknown, and so unreachable."""
        with self._lock:
            before = dict(self._lines)
            for node in nodes:
                self._lines[place(node.address, node.port)] = node.host_key
                if node.jump is not None:
                    self._lines[place(node.jump.address, node.jump.port)] = node.jump.host_key
            if self._lines != before or not self._path.exists():
                self._write()

    def _write(self) -> None:
        text = "".join(f"{where} {key}\n" for where, key in sorted(self._lines.items()) if key)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self._path)  # a run that reads at this moment sees the old or the new file


def place(address: str, port: int) -> str:
    """How a known_hosts file names an address: the port only where it is not 22."""
    return address if port == 22 else f"[{address}]:{port}"
