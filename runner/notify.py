"""What systemd is told: ready, alive, stopping. A datagram to the socket that it names; no library.

With `Type=notify` a unit counts as started when the runner really serves, and with `WatchdogSec`
one whose ticks have stopped is started anew: threads that wait for ever answer no signal.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Final

_MICROSECONDS: Final = 1_000_000


class Systemd:
    """Tells systemd; outside of it every word goes nowhere."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "")
        self._every = _watchdog_seconds(environ)

    def say(self, *words: str) -> None:
        """Such as `READY=1`; a systemd that does not listen is no reason to stop."""
        if not self._address:
            return
        # An address in the abstract namespace is written with an @ for its first, empty byte.
        where = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
                line.sendto("\n".join(words).encode(), where)
        except OSError:
            return

    def watch(self, alive: Callable[[], bool], stopping: threading.Event) -> None:
        """Say that we live, as long as that is so, until stopping; at once when nobody asks."""
        while self._every and not stopping.wait(self._every / 2):
            if alive():
                self.say("WATCHDOG=1")


def _watchdog_seconds(environ: Mapping[str, str]) -> float:
    """How often systemd wants to hear; zero when it does not, or means another process."""
    meant = environ.get("WATCHDOG_PID")
    given = environ.get("WATCHDOG_USEC", "")
    if not given.isdigit() or (meant and meant != str(os.getpid())):
        return 0.0
    return int(given) / _MICROSECONDS
