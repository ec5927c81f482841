"""A gunicorn worker that receives requests without threads and handles them in lanes."""

from __future__ import annotations

import errno
import json
import selectors
import socket
import ssl
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from controller import measures
from controller.edge import proxies, routing
from controller.edge.connection import HEADER_LIMIT, SLOWEST, Connection, Phase
from controller.edge.lanes import Lanes
from controller.edge.table import Table
from controller.edge.tls import Contexts

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.edge.proxies import Network

ACCEPTED_AT_ONCE: Final = 64  # then what these sent is looked at before more are accepted
SWEEP_EVERY: Final = 0.5  # seconds between looks for deadlines
LINGER: Final = 2.0  # seconds in which a client may read an answer that ends the connection
SEND_TIMEOUT: Final = 60.0  # seconds until a client that does not read is given up
STREAM_SEND_TIMEOUT: Final = 15.0  # a stream has to end soon after its token was revoked
DRAIN: Final = 0.05  # seconds for the rest of a streamed body that nobody has read
HELD_LIMIT: Final = 64 * 1024 * 1024  # bytes of all bodies that are being received
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """Limits and deadlines of the edge, in seconds."""

    connections: int
    per_address: int
    header_timeout: float
    body_timeout: float
    idle_timeout: float
    threads: int
    streams: int
    trusted: tuple[Network, ...] = ()


def write_problem(sock: Any, status: int, title: str, words: str) -> None:
    """Write what is refused before it reaches the application, as problem details."""
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": words[:200] or "the request cannot be answered",
        "cure": _CURES.get(status, "send HTTP/1.1 with an address and headers of 8 KiB at most"),
        "errors": [],
        "request_id": "",
    }
    data = json.dumps(body).encode()
    retry = "Retry-After: 2\r\n" if status == 503 else ""
    head = (
        f"HTTP/1.1 {status} {title}\r\nConnection: close\r\n{retry}"
        f"Content-Type: application/problem+json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    util.write_nonblock(sock, head.encode("latin-1") + data)


_CURES: Final = {
    408: "send the request without pauses; http.header_timeout and body_timeout limit them",
    503: "try again as Retry-After says",
}

util.write_error = write_problem  # gunicorn has no setting for it, and would answer HTML


class EdgeWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """One loop receives, deadlines included; threads see complete requests only."""

    def init_process(self) -> None:
        """Prepare before gunicorn enters the loop."""
        self.options: EdgeOptions = self.app.edge
        self.table = Table(self.options.connections, self.options.per_address, self.options.trusted)
        self._contexts = Contexts(self.cfg)
        self._swept = 0.0
        self._report()
        super().init_process()

    def get_thread_pool(self) -> Lanes:
        """Make the lanes; gunicorn calls this once in the worker's process."""
        return Lanes(routing.sizes(self.options.threads, self.options.streams))

    def _report(self) -> None:
        """Let the metrics see connections and lanes."""

        def phases() -> list[measures.Sample]:
            counted = Counter(connection.phase.name.lower() for connection in self.table)
            return [({"phase": name}, float(counted[name])) for name in sorted(counted)]

        def lanes(field: str) -> list[measures.Sample]:
            states = self.tpool.states().items()
            return [({"lane": name}, float(getattr(state, field))) for name, state in states]

        measures.HTTP_CONNECTIONS.report = phases
        measures.HTTP_RUNNING.report = partial(lanes, "running")
        measures.HTTP_WAITING.report = partial(lanes, "waiting")
        measures.HTTP_REFUSED.report = partial(lanes, "refused")

    def run(self) -> None:
        """Serve until stopped, then let requests at work end."""
        events = self.method_queue.run_callbacks
        self.poller.register(self.method_queue.fileno(), selectors.EVENT_READ, events)
        self.set_accept_enabled(True)
        while self.alive and self.is_parent_alive():
            self._turn()
        self.set_accept_enabled(False)
        end = time.monotonic() + self.cfg.graceful_timeout
        for connection in self.table:
            if connection.phase is not Phase.RUNNING:
                connection.deadline = min(connection.deadline, time.monotonic() + LINGER)
        while len(self.table) and time.monotonic() < end:
            self._turn()
        for connection in self.table:
            self._drop(connection)
        self.tpool.shutdown(wait=False)
        for listener in self.sockets:
            listener.close()

    def _turn(self) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(SWEEP_EVERY)
        if time.monotonic() - self._swept >= SWEEP_EVERY:
            self._swept = time.monotonic()
            self._sweep(self._swept)

    # Receiving, on the loop

    def accept(self, listener: Any) -> None:
        """Accept new connections, a few at a time."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                client, address = listener.accept()
            except OSError as error:
                oldest = self.table.oldest() if error.errno in _NO_ROOM else None
                if oldest is not None:
                    self._drop(oldest)
                return
            connection = Connection(self.cfg, client, address, listener.getsockname())
            self._safely(connection, self._welcome)

    def _welcome(self, connection: Connection) -> None:
        if self.cfg.is_ssl:
            connection.secure(self._contexts.current())
        connection.deadline = time.monotonic() + self.options.header_timeout
        self._wait(connection)
        self._advance(connection)

    def _wait(self, connection: Connection) -> None:
        """Wait for the client; somebody else may have to go for it."""
        surplus = self.table.waiting(connection)
        if surplus is not None and surplus is not connection:
            self._drop(surplus)
        self._listen(connection)

    def _listen(self, connection: Connection, events: int = selectors.EVENT_READ) -> None:
        if connection.registered == events:
            return
        ready = partial(self._ready, connection)
        if connection.registered:
            self.poller.modify(connection.sock, events, ready)
        else:
            self.poller.register(connection.sock, events, ready)
        connection.registered = events

    def _ready(self, connection: Connection, _sock: Any) -> None:
        if connection.registered:  # it may have been closed for another in this very turn
            self._safely(connection, self._advance)

    def _safely(self, connection: Connection, step: Callable[[Connection], None]) -> None:
        """Take a step for one connection; whatever fails there must not end the loop of all."""
        try:
            step(connection)
        except OSError as error:
            self.log.debug("a connection failed: %s", error)
            self._drop(connection)
        except Exception:
            self.log.exception("a connection failed")
            self._drop(connection)

    def _advance(self, connection: Connection) -> None:
        """Read the bytes that have arrived and continue with the request."""
        if connection.phase is Phase.HANDSHAKE and not self._shake(connection):
            return
        lives = connection.receive()
        if connection.phase is Phase.CLOSING:
            connection.received.clear()
        self._go_on(connection)
        if not lives and connection.phase is not Phase.RUNNING:
            self._drop(connection)

    def _shake(self, connection: Connection) -> bool:
        """Go on with the TLS handshake; whether it is complete."""
        try:
            connection.sock.do_handshake()
        except ssl.SSLWantReadError:
            self._listen(connection)
            return False
        except ssl.SSLWantWriteError:
            self._listen(connection, selectors.EVENT_WRITE)
            return False
        except ssl.SSLError as error:
            self.log.debug("no TLS with a client: %s", error)
            self._linger(connection)  # the alert that tells the client why must still arrive
            return False
        self._listen(connection)
        connection.phase = Phase.HEADER
        return True

    def _go_on(self, connection: Connection) -> None:
        if connection.phase is Phase.IDLE and connection.received:
            connection.phase = Phase.HEADER
            connection.deadline = time.monotonic() + self.options.header_timeout
        if connection.phase is Phase.HEADER and connection.received:
            self._header(connection)
        if connection.phase is Phase.BODY and connection.has_body:
            self._dispatch(connection)

    def _header(self, connection: Connection) -> None:
        if not connection.has_header():
            if len(connection.received) > HEADER_LIMIT:
                words = f"the header is longer than {HEADER_LIMIT} bytes"
                self._refuse(connection, 431, "Request Header Fields Too Large", words)
            return
        try:
            connection.read_header()
        except StopIteration:
            self._drop(connection)
            return
        except Exception as error:  # noqa: BLE001 - gunicorn tells each of them its status
            self.handle_error(connection.request, connection.sock, connection.client, error)
            self._linger(connection)
            return
        connection.phase = Phase.BODY
        connection.deadline = time.monotonic() + self.options.body_timeout
        request = connection.request
        if request._expected_100_continue and not connection.has_body:
            request._expected_100_continue = False
            connection.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    # Handling, in lanes

    def _dispatch(self, connection: Connection) -> None:
        request = connection.request
        headers = dict(request.headers)
        lane = routing.lane_of(request.method, request.path)
        if connection.streamed or (lane == routing.GIT and not connection.whole):
            lane = lane if lane == routing.GIT else routing.UPLOADS
            connection.parser.unreader.stream(self.options.body_timeout)
        connection.hand_over()
        connection.send_timeout = STREAM_SEND_TIMEOUT if lane == routing.STREAMS else SEND_TIMEOUT
        forwarded = headers.get("X-FORWARDED-FOR", "")
        address = proxies.client_address(connection.peer, forwarded, self.options.trusted)
        credential = headers.get("AUTHORIZATION") or headers.get("COOKIE")
        # All runners of a fleet may come from one address; each has its own token.
        keys = () if lane == routing.RUNNERS else (f"address {address}",)
        if credential:
            keys = (*keys, f"credential {hash(credential)}")
        self.table.at_work(connection)
        self._silence(connection)
        connection.phase = Phase.RUNNING
        if not self.tpool.offer(lane, partial(self._work, connection), keys):
            words = "too many requests wait already"
            self._refuse(connection, 503, "Service Unavailable", words)

    def _work(self, connection: Connection) -> None:
        """Handle a request, in a thread of its lane."""
        keep = False
        try:
            keep = bool(self.handle(connection))
        finally:
            after = self._rest if keep else self._linger
            self.method_queue.defer(self._safely, connection, after)

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Handle a request; a client that does not read its answer is no error of ours."""
        try:
            return bool(super().handle_request(req, conn))
        except TimeoutError as error:
            self.log.debug("a client is too slow: %s", error)
            raise StopIteration from error

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        """Return True if another request may follow; gunicorn waits longer for unread bodies."""
        if not keepalive or not (conn.whole or conn.parser.unreader.streaming):
            return False
        return bool(conn.parser.finish_body(deadline=time.monotonic() + DRAIN))

    def _rest(self, connection: Connection) -> None:
        """Wait for another request, or begin with it if it has come already."""
        if not self.alive:
            self._linger(connection)
            return
        connection.next_request()
        connection.phase = Phase.IDLE
        connection.deadline = time.monotonic() + self.options.idle_timeout
        self._wait(connection)
        self._go_on(connection)

    # Ending

    def _sweep(self, now: float) -> None:
        """Give up connections whose deadline has passed, and the largest of too many bodies."""
        held = 0
        for connection in self.table:
            held += len(connection.received)
            if connection.phase is Phase.RUNNING or now < connection.deadline:
                continue
            got = len(connection.received)
            if connection.phase is Phase.BODY and now < connection.deadline + got / SLOWEST:
                continue
            begun = connection.phase is Phase.BODY or bool(connection.received)
            if begun and connection.phase is not Phase.CLOSING:
                self._refuse(connection, 408, "Request Timeout", "the request came too slowly")
            else:
                self._drop(connection)
        if held > HELD_LIMIT:
            largest = max(self.table, key=lambda connection: len(connection.received))
            self._refuse(largest, 503, "Service Unavailable", "too many bodies are being received")

    def _refuse(self, connection: Connection, status: int, title: str, words: str) -> None:
        try:
            write_problem(connection.sock, status, title, words)
        except OSError as error:
            self.log.debug("a refusal cannot be written: %s", error)
        self._linger(connection)

    def _linger(self, connection: Connection) -> None:
        """End a connection so that the client can still read its answer."""
        self.table.at_work(connection)
        connection.phase = Phase.CLOSING
        connection.received.clear()
        connection.deadline = time.monotonic() + LINGER
        try:
            connection.sock.setblocking(False)
            connection.sock.shutdown(socket.SHUT_WR)
            self._listen(connection)
        except OSError:
            self._drop(connection)

    def _silence(self, connection: Connection) -> None:
        if connection.registered:
            self.poller.unregister(connection.sock)
            connection.registered = 0

    def _drop(self, connection: Connection) -> None:
        self.table.remove(connection)
        self._silence(connection)
        connection.phase = Phase.CLOSING
        connection.close()
