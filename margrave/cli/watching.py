"""`--watch`: the same answer again whenever the controller says that something changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from margrave.cli.exits import Problem
from margrave.cli.output import lively
from margrave.cli.paths import at
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from margrave.cli.api import Api, Event

EVENTS = at("events")
# A controller that is being restarted is back within seconds; one that is full says 503.
PAUSES = (0.5, 1.0, 2.0, 5.0)


def changes(api: Api, path: str = EVENTS, **params: Any) -> Iterator[Event | None]:
    """Every event from now on, over lost connections; None after each (re)connection attempt,
    because what happened before it may have been missed."""
    last, failures = "", 0
    while True:
        yield None
        try:
            for event in api.events(path, last, **params):
                last, failures = event.id or last, 0
                yield event
        except (Unreachable, Problem) as error:
            if isinstance(error, Problem) and error.status not in {429, 503}:
                raise
        time.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
        failures += 1


def watch(api: Api, fetch: Callable[[], Any], draw: Callable[[Any], None], **params: Any) -> None:
    """Draws what `fetch` answers, now and after each change of it; ends only by interruption."""
    shown: Any = None
    for _ in changes(api, **params):
        try:
            value = fetch()
        except Unreachable:
            # The first answer has to come; later ones may wait for a controller to return.
            if shown is None:
                raise
            continue
        if value == shown:
            continue
        if lively():
            click.clear()
        elif shown is not None:
            click.echo()
        shown = value
        draw(value)
