"""Processes are found by a word of their command line, whatever they are doing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from lab import processes

if TYPE_CHECKING:
    from pathlib import Path

WORD = "--machine=margrave-test-becoming"
BECOMES_ITSELF = """\
left=$1; shift
[ "$left" -gt 0 ] || exec sleep 600
exec sh "$0" $((left - 1)) "$@"
"""


def test_a_process_that_becomes_another_program_is_never_missed(tmp_path: Path) -> None:
    """Its command line is empty for an instant at every such step."""
    script = tmp_path / "becomes.sh"
    script.write_text(BECOMES_ITSELF)
    child = subprocess.Popen(["sh", str(script), "100", WORD])
    missed = 0
    try:
        while _program(child.pid) != "sleep":
            missed += child.pid not in processes.with_word(WORD) and _program(child.pid) != "sleep"
    finally:
        child.kill()
        child.wait()

    assert missed == 0


def _program(pid: int) -> str:
    return (processes.PROC / str(pid) / "comm").read_text().strip()
