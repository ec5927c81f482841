"""A stream as text: what is written to one client, and when it ends."""

from __future__ import annotations

import json
import select
from typing import TYPE_CHECKING, Final

from flask import Response, request

from controller.events.subscription import Message

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator

    from controller.events.broker import Broker
    from controller.events.subscription import Subscription

BEAT: Final = 10.0  # seconds between comments: proxies and dead clients are noticed by them
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


def respond(
    broker: Broker,
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
    client, position = broker.subscribe(wants, _hung_up(request.environ.get("gunicorn.socket")))
    source = _messages(broker, client, after, position, first)
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
) -> Iterator[Message | None]:
    yield from first()
    if after is not None:
        for message in broker.backlog(after, position):
            if client.wants(message) or message.event == "resync":
                yield message
    while not client.closed:
        taken = client.take(BEAT)
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
