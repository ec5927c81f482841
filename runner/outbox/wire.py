"""Requests to one server over HTTP/1.1 with what Python has: foreign errors end at this door.

A library for it held six megabytes beside the client that is in memory anyway. Proxies of the
environment and redirects are left aside: a line that carries a token goes where it was told to.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from margrave import tls_files
from margrave.errors import Unreachable

_SECONDS: Final = 15.0
# Servers, and what stands before them, hang up a connection that nobody uses, some after as little.
_IDLE_SECONDS: Final = 5.0
# No controller says as much: a page that does not end shall not fill the memory.
_ANSWER_BYTES: Final = 8 * 1024 * 1024
_LINE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, whatever its status; `data` is empty where it was not read."""

    url: str
    status: int
    kind: str  # its content type
    data: bytes = b""


class Opened:
    """An answer of which only the beginning is there."""

    def __init__(self, url: str, answer: http.client.HTTPResponse) -> None:
        self.begun = Answer(url, answer.status, answer.headers.get("Content-Type", ""))
        self._answer = answer

    def whole(self) -> Answer:
        """All of it; Unreachable when it breaks off, or is more than anybody says."""
        with _translated(self.begun.url):
            data = self._answer.read(_ANSWER_BYTES)
            if self._answer.read(1):
                raise http.client.HTTPException(f"answers with more than {_ANSWER_BYTES} bytes")
            if self._answer.length:
                raise http.client.IncompleteRead(data, self._answer.length)
        return replace(self.begun, data=data)

    def lines(self) -> Iterator[str]:
        """Line by line as they come; Unreachable when they break off."""
        while True:
            with _translated(self.begun.url):
                line = self._answer.readline(_LINE_BYTES)
                if len(line) >= _LINE_BYTES:
                    raise http.client.LineTooLong("line")
            if not line:
                return
            yield line.decode("utf-8", "replace").rstrip("\r\n")


class Wire:
    """Requests to one server, from several threads at once; Unreachable where one fails."""

    def __init__(
        self, base: str, headers: Mapping[str, str], context: Callable[[], ssl.SSLContext]
    ) -> None:
        self._base = base
        self._headers = dict(headers)
        self._context = context
        self._lock = threading.Lock()
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._busy: set[socket.socket] = set()

    def post(self, what: str, data: bytes, headers: Mapping[str, str]) -> Answer:
        """The whole answer, over a connection that is kept for a while."""
        with _translated(self._base + what):
            connection = self._kept() or self._connected()
        with self._asking(connection, "POST", what, data, headers) as answer:
            return Opened(self._base + what, answer).whole()

    @contextmanager
    def listen(self, what: str, silence: float, headers: Mapping[str, str]) -> Iterator[Opened]:
        """An answer that goes on, over a connection that may be silent for so long."""
        with _translated(self._base + what):
            connection = self._connected()
            connection.sock.settimeout(silence)
        with self._asking(connection, "GET", what, None, headers) as answer:
            yield Opened(self._base + what, answer)

    def close(self) -> None:
        """Hang up; who is reading reads the end."""
        with self._lock:
            idle, self._idle = self._idle, []
            for busy in self._busy:
                # The socket below TLS, which would wait for a word of the other side.
                with suppress(OSError):
                    socket.socket.shutdown(busy, socket.SHUT_RDWR)
        for _, connection in idle:
            connection.close()

    @contextmanager
    def _asking(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        what: str,
        data: bytes | None,
        headers: Mapping[str, str],
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer; afterwards the connection is kept if the answer was read to its end."""
        used = connection.sock  # the answer takes it where it is to be the last one
        with self._lock:
            self._busy.add(used)
        lasts = False
        try:
            with _translated(self._base + what):
                path = urlsplit(self._base).path + what
                # Who says no before it has heard all hangs up: what it says is read all the same.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, path, data, {**self._headers, **headers})
                answer = connection.getresponse()
            with answer:
                yield answer
                lasts = answer.isclosed() and not answer.will_close
        finally:
            with self._lock:
                self._busy.discard(used)
                if lasts:
                    self._idle.append((time.monotonic(), connection))
            if not lasts:
                connection.close()
                used.close()

    def _connected(self) -> http.client.HTTPConnection:
        parts = urlsplit(self._base)
        host, port = parts.hostname or "", parts.port
        made = http.client.HTTPConnection(host, port, timeout=_SECONDS)
        if parts.scheme == "https":
            made = http.client.HTTPSConnection(
                host, port, timeout=_SECONDS, context=self._context()
            )
        made.connect()
        return made

    def _kept(self) -> http.client.HTTPConnection | None:
        """The one that was used last, where the other side has not hung it up."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            if time.monotonic() - since < _IDLE_SECONDS and not _says_something(connection.sock):
                connection.sock.settimeout(_SECONDS)
                return connection
            connection.close()


def _says_something(idle: socket.socket) -> bool:
    """Whether there is something to read where nothing was asked: mostly the end."""
    poll = select.poll()  # not select: it takes no descriptor above 1023
    poll.register(idle, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Whatever a network, TLS and HTTP raise, as Unreachable with what may help."""
    try:
        yield
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise Unreachable(f"{where}: {reason}", _cure(error)) from error


def _cure(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "controller.ca_file is the CA of its certificate"
    if tls_files.is_asked_for(error):
        return "it wants a certificate that it knows: controller.cert and controller.key"
    return "check controller.url and the network"
