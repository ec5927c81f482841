"""A client that asks the application all the time, and notes what it got and when."""

from __future__ import annotations

import http.client
import json
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Answer:
    """One request: when it was sent, how long it took, and the version, None without an answer."""

    at: float
    took: float
    version: str | None


@dataclass
class Client:
    """Asks every `pause` seconds until it is stopped."""

    host: str
    port: int = 8000
    pause: float = 0.05
    limit: float = 2.0
    answers: list[Answer] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Client:
        """Begin to ask."""
        self._thread = threading.Thread(target=self._ask_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop asking."""
        self._stop.set()
        if self._thread:
            self._thread.join()

    def between(self, begin: float, end: float) -> list[Answer]:
        """What was asked in a span of time.monotonic()."""
        return [one for one in self.answers if begin <= one.at and one.at + one.took <= end]

    def longest_gap(self) -> float:
        """The longest time between two answers; about `pause` when none was late or missing."""
        came = [one.at + one.took for one in self.answers if one.version is not None]
        return max((later - one for one, later in pairwise(came)), default=0.0)

    def _ask_on(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            begin = time.monotonic()
            version = self.ask()
            self.answers.append(Answer(begin, time.monotonic() - begin, version))
            due = max(due + self.pause, time.monotonic())
            self._stop.wait(max(0.0, due - time.monotonic()))

    def ask(self) -> str | None:
        """The version that answers now, None without an answer."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=self.limit)
        try:
            line.request("GET", "/")
            return str(json.loads(line.getresponse().read())["version"])
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            return None
        finally:
            line.close()
