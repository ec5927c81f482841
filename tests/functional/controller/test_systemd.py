"""A controller under systemd is a unit that says how it is."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.support.served import served


def test_systemd_is_told_that_it_serves_and_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ready once it serves, alive again and again: a process that hangs is missed by systemd."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        with served(tmp_path):
            heard = [systemd.recv(200) for _ in range(3)]

    assert any(word.startswith(b"READY=1") for word in heard)
    assert b"WATCHDOG=1" in heard
