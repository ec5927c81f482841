"""A threaded HTTPS server for the runner's few requests: waitress, which serves HTTP, has no TLS.

The handshake happens in the connection's own thread and within a time limit, so that a silent
client holds nobody else.
"""

from __future__ import annotations

import socket
import ssl
import threading
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from flask import Flask

if TYPE_CHECKING:
    from margrave.sections import Tls

_SECONDS: Final = 30.0
AT_ONCE: Final = 64
_PATIENCE: Final = 1.0


class TlsServer(ThreadingMixIn, WSGIServer):
    """Serves an application on a socket that is bound already."""

    daemon_threads = True

    def __init__(self, application: Flask, listener: socket.socket, tls: Tls) -> None:
        super().__init__(listener.getsockname()[:2], _QuietHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = listener.getsockname()[:2]
        self.setup_environ()
        self.base_environ["HTTPS"] = "on"
        self.set_app(application)
        self._context = context(tls)
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def run(self) -> None:
        """Until closed."""
        self.serve_forever()

    def close(self) -> None:
        """End `run`, and stop listening."""
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread of its own for each connection, while there are few enough of them.

        Whoever comes when all are taken waits a moment for one, unaccepted connections behind it
        in the kernel's queue, and is turned away then: a thread costs memory before it asks for
        anything.
        """
        if not self._free.acquire(timeout=_PATIENCE):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The handshake, then the request; a client that fails at the first gets no answer."""
        try:
            request.settimeout(_SECONDS)
            try:
                secured = self._context.wrap_socket(request, server_side=True)
            except OSError:  # not TLS, a foreign certificate, or gone: nothing of it is ours
                self.shutdown_request(request)
                return
            super().process_request_thread(secured, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off is no event."""


def context(tls: Tls) -> ssl.SSLContext:
    """TLS 1.2 or newer; with a client CA, only clients that it has signed."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    assert tls.cert is not None, "the settings were checked"
    made.load_cert_chain(tls.cert, tls.key)
    if tls.client_ca is not None:
        made.load_verify_locations(tls.client_ca)
        made.verify_mode = ssl.CERT_REQUIRED
    return made


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Requests are not logged: their headers may hold tokens."""
