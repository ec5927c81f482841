"""Descriptions as files, while many pushes bring them in line at once."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from controller.gate.shelf import Shelf

PUSHES = 30


def known(version: int) -> dict[tuple[str, str], str]:
    """Twenty applications as the catalogue has them after a change."""
    return {(f"app-{number}", "1.0.0"): f"sha256:{version:064x}" for number in range(20)}


def text(app: str, version: str) -> bytes:
    time.sleep(0.001)  # as a query takes: threads change over here
    return f"{app} {version}\n".encode() * 100


def test_pushes_at_the_same_time_bring_it_in_line(tmp_path: Path) -> None:
    """The first pushes after a change of the catalogue come together: each finds every file, whole,
    and no draft stays behind."""
    for version in range(2):
        together = threading.Barrier(PUSHES)

        def push(version: int = version, together: threading.Barrier = together) -> None:
            together.wait()
            Shelf(tmp_path).keep(known(version), text)

        with ThreadPoolExecutor(PUSHES) as pool:
            for pushed in [pool.submit(push) for _ in range(PUSHES)]:
                pushed.result()
        files = sorted(tmp_path.iterdir())
        assert len(files) == 20
        assert {len(path.read_bytes()) for path in files} <= {1200, 1300}
        assert not [path for path in files if path.name.startswith(".")]


def test_a_draft_that_was_left_behind_goes(tmp_path: Path) -> None:
    """One of an hour ago is nobody's; one of now is another push's."""
    for name, age in ((".draft-old", 7200), (".draft-new", 0)):
        (tmp_path / name).write_bytes(b"half")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    Shelf(tmp_path).keep({}, text)
    assert [path.name for path in tmp_path.iterdir()] == [".draft-new"]
