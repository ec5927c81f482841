"""Journal of emergency changes: nothing that was answered is lost, and nothing torn is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from controller.publish.journal import SIZE, Journal
from margrave.errors import Unreachable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "emergency.journal"


def test_what_is_open_is_there_for_the_next_process(path: Path) -> None:
    """Values come back in their order; what was done does not."""
    journal = Journal(path)
    for name in ("a", "b", "c"):
        journal.add(name, {"site": name})
    journal.done("b")
    assert Journal(path).read() == {"a": {"site": "a"}, "c": {"site": "c"}}
    journal.done("a")
    journal.done("c")
    assert Journal(path).read() == {}
    journal.add("d", {"site": "d"})
    assert Journal(path).read() == {"d": {"site": "d"}}


def test_a_record_that_a_power_cut_tore_is_left_out(path: Path) -> None:
    """The records before it count."""
    journal = Journal(path)
    journal.add("whole", {"site": "harbor"})
    end = path.read_bytes().index(b"\0")
    journal.add("torn", {"site": "depot"})
    data = bytearray(path.read_bytes())
    data[end + 20] ^= 1
    path.write_bytes(bytes(data))
    assert Journal(path).read() == {"whole": {"site": "harbor"}}


def test_its_room_is_reserved_and_bounded(path: Path) -> None:
    """The file has its size from the start; one change too many is refused and breaks nothing."""
    journal = Journal(path)
    journal.read()
    assert path.stat().st_blocks * 512 >= SIZE
    big = {"site": "x" * 10_000}
    with pytest.raises(Unreachable, match="too many"):
        for number in range(100):
            journal.add(str(number), big)
    assert len(Journal(path).read()) == 26
    assert path.stat().st_size == SIZE


def test_a_file_that_cannot_be_written_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked hears which file stands in the way."""

    def broken(*_: object) -> int:
        raise OSError(28, "No space left on device")

    journal = Journal(path)
    journal.read()
    monkeypatch.setattr(os, "pwrite", broken)
    with pytest.raises(Unreachable, match=r"emergency\.journal cannot be written: No space left"):
        journal.add("a", {})
