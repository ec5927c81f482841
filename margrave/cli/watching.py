"""`--watch`: the same answer again whenever the controller says that something changed."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from margrave.cli.exits import Problem
from margrave.cli.paths import at
from margrave.errors import MargraveError, Unreachable
from margrave.terminal.live import redrawing
from margrave.terminal.output import lively

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from margrave.cli.api import Api, Event
    from margrave.terminal.output import Output

EVENTS = at("events")
# A controller that is being restarted is back within seconds; one that is full says 503.
PAUSES = (0.5, 1.0, 2.0, 5.0)
# A fleet tells of something many times a second; nobody reads faster than this, and each answer
# is a whole list.
LEAST: Final = 1.0


def passes(error: MargraveError) -> bool:
    """Whether it may be gone when one asks again: nobody there, too many, or an ill controller."""
    if isinstance(error, Problem):
        return error.status == 429 or error.status >= 500
    return isinstance(error, Unreachable)


def changes(api: Api, path: str = EVENTS, **params: Any) -> Iterator[Event | None]:
    """Every event from now on, over lost connections; None when listening begins and whenever it
    fails to, because what happened meanwhile may have been missed."""
    last, failures = "", 0
    while True:
        try:
            for event in api.events(path, last, **params):
                failures = 0
                last = event.id if event is not None and event.id else last
                yield event
        except MargraveError as error:
            if not passes(error):
                raise
            yield None
        time.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
        failures += 1


class Bell:
    """Rings when something has changed: listens in a thread of its own, so that many changes
    within a moment are one."""

    def __init__(self, api: Api, **params: Any) -> None:
        self._rung = threading.Event()
        self._over = False
        self._wrong: BaseException | None = None
        self._last = float("-inf")
        thread = threading.Thread(target=self._listen, args=(api, params), daemon=True)
        thread.start()

    def _listen(self, api: Api, params: dict[str, Any]) -> None:
        try:
            for _ in changes(api, **params):
                self._rung.set()
                if self._over:
                    return
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self._wrong = error
        self._rung.set()

    def wait(self) -> None:
        """Returns once it has rung since the last time, and LEAST after that."""
        self._rung.wait()
        time.sleep(max(0.0, self._last + LEAST - time.monotonic()))
        self._rung.clear()
        self._last = time.monotonic()
        if self._wrong is not None:
            raise self._wrong

    def leave(self) -> None:
        """Nobody waits any more."""
        self._over = True


@contextmanager
def listening(api: Api, **params: Any) -> Iterator[Bell]:
    """A bell for what changes, as long as it is asked."""
    bell = Bell(api, **params)
    try:
        yield bell
    finally:
        bell.leave()


def show(
    api: Api,
    out: Output,
    fetch: Callable[[], Any],
    draw: Callable[[Output, Any], None],
    *,
    follow: bool,
    **params: Any,
) -> None:
    """Draws what `fetch` answers; with `follow` again after each change of it, until somebody
    interrupts. `params` say which events can change it."""
    if not follow:
        draw(out, fetch())
        return
    stream = replace(out, stream=True)
    shown: Any = None
    with redrawing(live=out.for_eyes and lively()) as redraw, listening(api, **params) as bell:
        while True:
            bell.wait()
            try:
                value = fetch()
            except MargraveError as error:
                # The first answer has to come; later ones may wait for a controller to return.
                if shown is None or not passes(error):
                    raise
                continue
            if value == shown:
                continue
            first, shown = shown is None, value
            if out.for_eyes and not lively() and not first:
                click.echo()
            redraw(partial(draw, stream, value))
