"""Connections that are not there yet are opened with so many at once at each door."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from runner.execute import lines as room
from runner.execute.errand import Errand
from runner.execute.lines import NOBODY, Lines
from runner.ports import Jump, Target
from tests.support.waiting import eventually

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C.UTF-8"}
GATE = Jump("10.0.0.1", 22, "margrave", "ssh-ed25519 AAAA")
NODE = Target("harbor-1", "10.0.0.9", 22, "margrave", "/key", "ssh-ed25519 AAAA", GATE)
# Whoever is at the door has a file there until it is in; it comes in when the test lets it.
KNOCK = """
touch "$0/door/$$"; ls "$0/door" | wc -l >>"$0/seen"
if [ -e "$0/full/$1" ]; then
    rm "$0/full/$1" "$0/door/$$"; echo "Connection reset by peer" >&2; exit 255
fi
while [ ! -e "$0/open" ]; do sleep 0.02; done
rm "$0/door/$$"; touch "$3"
[ -e "$0/silent/$1" ] && exec sleep 60
[ -e "$0/refused/$1" ] && { echo "Permission denied (publickey)." >&2; exit 255; }
touch "$2"
"""


class Ssh:
    """A program of the test where ssh would knock; its files tell what it met."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("door", "silent", "refused", "full", "c"):
            (folder / name).mkdir()
        (folder / "seen").touch()

    def options(self, node: Target, *, apart: bool = False, mark: Path | None = None) -> list[str]:
        """The program; what follows is the command, which it leaves alone."""
        path = self.master(node, apart=apart)
        return ["sh", "-c", KNOCK, str(self.folder), node.name, str(path), str(mark)]

    def master(self, node: Target, *, apart: bool = False) -> Path:
        """The socket, which the program makes."""
        return self.folder / "c" / (node.name + ("-apart" if apart else ""))

    def most(self) -> int:
        """How many were at the door at once, at most."""
        return max((int(line) for line in (self.folder / "seen").read_text().split()), default=0)

    def knocked(self) -> int:
        """How often somebody came to the door."""
        return len((self.folder / "seen").read_text().split())


@pytest.fixture
def ssh(tmp_path: Path) -> Ssh:
    return Ssh(tmp_path)


@pytest.fixture
def lines(ssh: Ssh) -> Lines:
    """Patient: a knock may take seconds on a busy machine."""
    return Lines(ssh, ENVIRONMENT, 30, 3, 20)


def nodes(count: int) -> list[Target]:
    return [replace(NODE, name=f"node-{number}") for number in range(count)]


def errands(some: Sequence[Target]) -> list[Errand]:
    return [Errand(one.name, one, "workload_update", {}, 60) for one in some]


def begun(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_so_many_at_once_at_one_jump_host_whoever_asks(ssh: Ssh, lines: Lines) -> None:
    """Two runs and a look: never more than three of them at its door, and all come in."""
    found: list[object] = []
    some = nodes(12)
    threads = [
        begun(lambda: found.append(lines.open_all(errands(some[:5]), 20))),
        begun(lambda: found.append(lines.open_all(errands(some[5:11]), 20))),
        begun(lambda: found.append(lines.open(some[11]))),
    ]
    eventually(lambda: ssh.knocked() >= 3)
    (ssh.folder / "open").touch()
    for thread in threads:
        thread.join(30)
    assert sorted(found, key=str) == ["", {}, {}]
    assert all(lines.is_open(one) for one in some)
    assert (ssh.knocked(), ssh.most()) == (12, 3)


def test_a_connection_is_opened_once_and_the_one_apart_is_another(ssh: Ssh, lines: Lines) -> None:
    """Who comes while it is being opened waits for that; over one that is open nobody knocks."""
    (ssh.folder / "open").touch()
    threads = [begun(lambda: lines.open(NODE)) for _ in range(4)]
    for thread in threads:
        thread.join(30)
    assert ssh.knocked() == 1
    assert lines.open_all(errands([NODE]), 20) == {}
    assert ssh.knocked() == 1
    assert not lines.is_open(NODE, apart=True)
    assert lines.open(NODE, apart=True) == ""
    assert ssh.knocked() == 2


def test_a_silent_node_behind_it_holds_no_place_at_the_door(
    ssh: Ssh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three are let in by the jump host and wait behind it; the others come in meanwhile."""
    monkeypatch.setattr(room, "LOGIN", 4.0)
    monkeypatch.setattr(room, "AT_THE_DOOR", 60.0)  # what is heard of none for so long is left
    lines = Lines(ssh, ENVIRONMENT, 1, 3, 20)
    (ssh.folder / "open").touch()
    some = nodes(5)
    for one in some[:3]:
        (ssh.folder / "silent" / one.name).touch()
    (ssh.folder / "refused" / some[3].name).touch()
    said: dict[str, str] = {}
    thread = begun(lambda: said.update(lines.open_all(errands(some), 20)))
    eventually(lambda: lines.is_open(some[4]))
    assert said == {}
    thread.join(30)
    assert said == {
        **{one.name: NOBODY for one in some[:3]},
        some[3].name: "Permission denied (publickey).",
    }


def test_a_door_that_turned_somebody_away_is_knocked_at_again(
    ssh: Ssh, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others knock at it, too. What the node itself says is an answer, and not asked for twice."""
    monkeypatch.setattr(room, "AGAIN", (0, 0.1))
    (ssh.folder / "open").touch()
    (ssh.folder / "full" / NODE.name).touch()
    assert lines.open(NODE) == ""
    assert ssh.knocked() == 2
    other = replace(NODE, name="harbor-2")
    (ssh.folder / "refused" / other.name).touch()
    assert lines.open(other) == "Permission denied (publickey)."
    assert ssh.knocked() == 3


def test_what_takes_too_long_is_left_to_whoever_asked(ssh: Ssh) -> None:
    """It is in no answer, as nothing is known of it yet."""
    lines = Lines(ssh, ENVIRONMENT, 0.1 - room.AT_THE_DOOR, 3, 20)
    assert lines.open_all(errands(nodes(2)), 20) == {}
    (ssh.folder / "open").touch()
    eventually(lambda: all(lines.is_open(one) for one in nodes(2)))


def test_after_the_end_nobody_knocks(ssh: Ssh, lines: Lines) -> None:
    """Whoever waits for the door is told at once."""
    lines.stop()
    assert lines.open(NODE) == NOBODY
    assert ssh.knocked() == 0
