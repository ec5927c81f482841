"""Ending processes and all that came from them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.execute import processes
from runner.execute.content import collections_path
from tests.support.waiting import eventually

# A parent, and a child that left its session, as Ansible's workers do; both tell their pids.
FAMILY = """
import os, subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True) as top:
        assert top.stdout is not None
        child = int(top.stdout.readline())
        yield top.pid, child
        processes.kill_tree(top.pid)


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_a_tree_ends_with_those_who_left_the_session(family) -> None:
    """Parent and child are gone."""
    top, child = family
    processes.kill_tree(top, processes.started(top))
    eventually(lambda: not alive(top) and not alive(child))  # the kernel ends them in its time


def test_another_process_with_an_old_pid_is_left_alone(family) -> None:
    """A pid counts only with the moment at which its process began."""
    top, child = family
    processes.kill_tree(top, "1")
    assert alive(top)
    assert alive(child)


def test_notes_of_processes_survive_half_written_lines(tmp_path) -> None:
    """What is no pid with its start is passed over; without the file there are none."""
    path = tmp_path / "pids"
    assert processes.noted(path) == []
    path.write_text("12 345\nx y\n99\n", encoding="ascii")
    assert processes.noted(path) == [(12, "345")]


def test_the_collection_is_found_installed_or_in_a_checkout(tmp_path) -> None:
    """Beside the packages first, in the checkout's folder second, and its absence says the cure."""
    with pytest.raises(Exception, match="install the package margrave again"):
        collections_path(tmp_path)
    for place in (tmp_path / "collections", tmp_path):
        (place / "ansible_collections/margrave/edge/plugins/modules").mkdir(parents=True)
        assert collections_path(tmp_path) == place
