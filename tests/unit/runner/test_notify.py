"""What systemd hears."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.notify import Systemd


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket that systemd would listen at."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.bind(str(tmp_path / "notify"))
        made.settimeout(20)
        yield made


def test_ready_is_told_in_one_message(systemd: socket.socket, tmp_path: Path) -> None:
    """With a status that `systemctl status` shows."""
    Systemd({"NOTIFY_SOCKET": str(tmp_path / "notify")}).say("READY=1", "STATUS=site harbor")
    assert systemd.recv(100) == b"READY=1\nSTATUS=site harbor"


def test_the_watchdog_hears_of_us_as_long_as_we_turn(
    systemd: socket.socket, tmp_path: Path
) -> None:
    """A runner whose ticks hang falls silent, and is started anew."""
    address = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "20000"}
    stopping, turns = threading.Event(), [True, True, False]

    def alive() -> bool:
        if len(turns) == 1:
            stopping.set()
        return turns.pop(0)

    Systemd(address).watch(alive, stopping)
    assert [systemd.recv(100) for _ in range(2)] == [b"WATCHDOG=1"] * 2
    systemd.settimeout(0)
    with pytest.raises(BlockingIOError):
        systemd.recv(100)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"NOTIFY_SOCKET": "/nowhere/notify"},
        {"NOTIFY_SOCKET": "@margrave-nobody-listens"},
        {"WATCHDOG_USEC": "20000", "WATCHDOG_PID": str(os.getpid() + 1)},
        {"WATCHDOG_USEC": "often"},
    ],
)
def test_outside_of_systemd_nothing_happens(given: dict[str, str]) -> None:
    """Neither an error nor a thread that waits."""
    made = Systemd(given)
    made.say("READY=1")
    made.watch(lambda: False, threading.Event())
