"""The stream of hints: something was published, a command waits. It is never the truth itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from margrave.errors import MargraveError
from runner.outbox.backoff import Backoff

_log = logging.getLogger(__name__)


class Hints(Protocol):
    """Where hints come from."""

    def stream(self) -> AbstractContextManager[Iterator[tuple[str, str]]]:
        """(event, data) until the line breaks."""


class Stream:
    """A thread that listens, and calls at once."""

    def __init__(
        self,
        hints: Hints,
        on_revision: Callable[[], None],
        on_command: Callable[[], None],
    ) -> None:
        self._hints = hints
        self._calls = {"revision": on_revision, "command": on_command}
        self._stopping = threading.Event()

    def run(self) -> None:
        """Until stopped; a broken line is taken up again."""
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                with self._hints.stream() as events:
                    backoff.succeeded()
                    # What was said while nobody listened is not repeated: look at both.
                    self._call_all()
                    self._listen(events)
            except MargraveError as error:
                _log.debug("the stream of hints broke: %s", error)
            except Exception:  # noqa: BLE001 - nobody would start it a second time
                # Closed under its hands when the runner ends. Else told: hints are a help only.
                if not self._stopping.is_set():
                    _log.exception("the stream of hints failed; it is taken up again")
            self._stopping.wait(backoff.failed())

    def stop(self) -> None:
        """End `run` once the line is closed."""
        self._stopping.set()

    def _listen(self, events: Iterator[tuple[str, str]]) -> None:
        for event, _ in events:
            if self._stopping.is_set():
                return
            call = self._calls.get(event)
            if call is not None:
                call()

    def _call_all(self) -> None:
        for call in self._calls.values():
            call()
