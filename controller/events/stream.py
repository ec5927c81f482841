"""A stream as text: what is written to one client, and when it ends."""

from __future__ import annotations

import json
import select
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from flask import Response, request

from controller.events.subscription import Message
from margrave.errors import MargraveError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator

    from controller.events.broker import Broker
    from controller.events.subscription import Subscription

BEAT: Final = 10.0  # seconds between comments: proxies and dead clients are noticed by them
# Seconds between looks at the rights of a stream, which ends within 30 s of losing them: a client
# that does not read may hold the look up for as long as the edge waits for it.
RIGHTS_EVERY: Final = 12.0
UNKNOWN_RIGHTS: Final = 15.0  # seconds for which rights that cannot be read stay as they were
RETRY: Final = 2000  # milliseconds a browser waits before it comes back

HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold events back
}


def text(message: Message) -> str:
    """One event: id, name, one line of JSON."""
    lines = [f"id: {message.id}"] if message.id is not None else []
    data = json.dumps(message.data, ensure_ascii=False, separators=(",", ":"))
    lines += [f"event: {message.event.removeprefix('hint:')}", f"data: {data}"]
    return "\n".join(lines) + "\n\n"


class Rights:
    """Whether the holder of a stream may still listen."""

    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self._confirmed = time.monotonic()
        self._next = self._confirmed + RIGHTS_EVERY

    @property
    def due(self) -> float:
        """Seconds until the next look."""
        return max(0.0, self._next - time.monotonic())

    def lapsed(self) -> bool:
        """Whether the stream has to end; its rights are read when it is time."""
        if self.due:
            return False
        begun = time.monotonic()
        try:
            if not self._holds():
                return True
            self._confirmed = begun
        except MargraveError:  # an outage; who comes back meanwhile is not let in
            if begun - self._confirmed > UNKNOWN_RIGHTS:
                return True
        self._next = time.monotonic() + RIGHTS_EVERY
        return False


@dataclass(frozen=True, slots=True)
class Listener:
    """Who listens, and whether they still may."""

    name: str
    holds: Callable[[], bool]


def respond(
    broker: Broker,
    listener: Listener,
    wants: Callable[[Message], bool],
    after: int | None,
    *,
    first: Callable[[], Iterable[Message]] = tuple,
    last: Callable[[Message], bool] = lambda _: False,
    name: Callable[[Message], Message] = lambda message: message,
) -> Response:
    """A streaming response.

    `after` resumes behind a Last-Event-ID; `first` is read once the stream is open, so that nothing
    falls in between, and told before anything else; `last` says which message ends the stream,
    `name` gives a message the form this stream tells it in.
    """
    hung_up = _hung_up(request.environ.get("gunicorn.socket"))
    client, position = broker.subscribe(wants, hung_up, listener.name)
    source = _messages(broker, client, after, position, first, Rights(listener.holds))
    response = Response(_lines(source, last, name), content_type="text/event-stream; charset=utf-8")
    response.headers.update(HEADERS)
    # Not a `finally` in the generator: one that was never begun would never reach it.
    response.call_on_close(client.leave)
    return response


def _hung_up(line: socket.socket | None) -> Callable[[], bool]:
    """Whether the other end of a line has gone, asked of the kernel: a beat would tell it later."""

    def ask() -> bool:
        if line is None:  # another server than ours, which does not lend it
            return False
        poll = select.poll()
        try:
            poll.register(line, select.POLLRDHUP)
            return bool(poll.poll(0))
        except (OSError, ValueError):  # closed at this end too
            return True

    return ask


def _messages(
    broker: Broker,
    client: Subscription,
    after: int | None,
    position: int,
    first: Callable[[], Iterable[Message]],
    rights: Rights,
) -> Iterator[Message | None]:
    yield from first()
    if after is not None:
        for message in broker.backlog(after, position):
            if client.wants(message) or message.event == "resync":
                yield message
    while not client.closed and not rights.lapsed():
        taken = client.take(min(BEAT, rights.due))
        # Asked again: what came in while `first` was read may stand in that already.
        wanted = taken is None or taken.event == "resync" or client.wants(taken)
        if wanted and not client.closed:
            yield taken


def _lines(
    source: Iterator[Message | None],
    last: Callable[[Message], bool],
    name: Callable[[Message], Message],
) -> Iterator[str]:
    yield f"retry: {RETRY}\n: open\n\n"
    for message in source:
        if message is None:
            yield ": still here\n\n"
            continue
        named = name(message)
        yield text(named)
        if last(named):
            return
