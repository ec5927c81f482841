"""One client's connection: what has been received of a request, and in which phase it is."""

from __future__ import annotations

import ssl
import time
from enum import Enum, auto
from typing import Any, Final

from gunicorn.http.body import LengthReader  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn  # type: ignore[import-untyped]

PIECE: Final = 65536
HEADER_LIMIT: Final = 65536
# Larger bodies are refused by the API by their length alone, before they have been received.
BODY_LIMIT: Final = 8 * 1024 * 1024
SLOWEST: Final = 4096  # bytes a second that a body must have on average, beyond its grace period
_END: Final = b"\r\n\r\n"


class Phase(Enum):
    """Progress of a connection."""

    HANDSHAKE = auto()
    HEADER = auto()
    BODY = auto()
    RUNNING = auto()
    IDLE = auto()
    CLOSING = auto()


class Source(SocketUnreader):  # type: ignore[misc]
    """Bytes of a request: those received already, and for a streamed body those to come."""

    streaming = False
    patience = 0.0  # seconds that a thread may spend waiting for a streamed body
    _waited = 0.0
    _got = 0

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Read more of a streamed body; TimeoutError when the client is too slow."""
        if not self.streaming:
            return b""
        if self._waited > self.patience + self._got / SLOWEST:
            raise TimeoutError("the body comes too slowly")
        begun = time.monotonic()
        data: bytes = super().chunk(size_hint)
        self._waited += time.monotonic() - begun
        self._got += len(data)
        return data

    def stream(self, patience: float) -> None:
        """Let the body be read from the socket while it is handled."""
        self.streaming, self.patience = True, patience
        self._waited, self._got = 0.0, 0


class Parser(RequestParser):  # type: ignore[misc]
    """A parser that reads a request on the loop and hands it to the thread that handles it."""

    def __init__(self, cfg: Any, sock: Any, client: Any) -> None:
        super().__init__(cfg, sock, client)
        self.unreader = Source(sock)
        self._parsed: Any = None

    def parse(self, data: bytes) -> Any:
        """Return the request that the bytes begin with; gunicorn's exceptions if it is none."""
        self.unreader.unread(data)
        self._parsed = super().__next__()
        return self._parsed

    def __next__(self) -> Any:
        """Return the request that was parsed."""
        parsed, self._parsed = self._parsed, None
        if parsed is None:
            raise StopIteration
        return parsed


class Connection(TConn):  # type: ignore[misc]
    """A connection that receives without a thread and is handled by one when a request is whole."""

    sock: Any  # a TLS socket once secure() was called

    def __init__(self, cfg: Any, sock: Any, client: Any, server: Any) -> None:
        super().__init__(cfg, sock, client, server)
        self.peer = str(client[0]) if isinstance(client, tuple) else ""
        self.phase = Phase.HEADER
        self.deadline = 0.0
        self.received = bytearray()
        self.request: Any = None
        self.whole = True  # whether nothing of the present request is missing
        self.registered = 0  # the events that the loop waits for
        self.send_timeout = 0.0
        self._searched = 0
        self._missing = 0
        self.initialized = self.data_ready = True  # nothing is left for gunicorn to prepare
        self.parser = Parser(cfg, sock, client)

    def secure(self, context: ssl.SSLContext) -> None:
        """Begin TLS; the handshake goes on as its messages come."""
        self.sock = context.wrap_socket(self.sock, server_side=True, do_handshake_on_connect=False)
        self.parser = Parser(self.cfg, self.sock, self.client)
        self.phase = Phase.HANDSHAKE

    def init(self) -> None:
        """Prepare for the thread: it waits for a client that does not read, but not for ever."""
        self.sock.settimeout(self.send_timeout)

    def receive(self) -> bool:
        """Read the bytes that have arrived; return False when the client has hung up."""
        room = self._missing if self.phase is Phase.BODY else HEADER_LIMIT + PIECE
        while len(self.received) < room:
            try:
                data = self.sock.recv(PIECE)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return True
            if not data:
                return False
            self.received += data
        return True

    def has_header(self) -> bool:
        """Return True when the header is complete."""
        found = self.received.find(_END, max(0, self._searched - len(_END)))
        self._searched = len(self.received)
        return found >= 0

    def read_header(self) -> None:
        """Parse the header and note how much of the body is missing."""
        self._searched = 0
        data = bytes(self.received)
        self.received.clear()
        self.parser.unreader.streaming = False
        self.request = self.parser.parse(data)
        reader = self.request.body.reader
        length = reader.length if isinstance(reader, LengthReader) else None
        self.streamed = length is None
        held = len(self.parser.unreader.buf.getvalue())
        self._missing = max(0, (length or 0) - held)
        self.whole = length is not None and length - held <= BODY_LIMIT

    @property
    def has_body(self) -> bool:
        """Return True when there is nothing to wait for before a thread handles the request."""
        return self.streamed or not self.whole or len(self.received) >= self._missing

    def hand_over(self) -> None:
        """Give the body to the parser, for the thread that handles the request."""
        if self.received:
            held = self.parser.unreader.take_buffered()
            self.parser.unreader.unread(held + bytes(self.received))
            self.received = bytearray()

    def next_request(self) -> None:
        """Prepare for the next request, of which bytes may have been received already."""
        self.request = None
        self.received = bytearray(self.parser.unreader.take_buffered())
        self.sock.setblocking(False)
