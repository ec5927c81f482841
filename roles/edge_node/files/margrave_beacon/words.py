"""How the beacon speaks: to the journal, and to systemd."""

from __future__ import annotations

import os
import socket
import sys


def log(words: str) -> None:
    """To the journal, by standard error."""
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


def notify(state: str) -> None:
    """Tell systemd, when it started us."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        place = "\0" + address[1:] if address.startswith("@") else address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
            datagram.sendto(state.encode(), place)
