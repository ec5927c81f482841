"""A WSGI application that listens, on threads of its own, until the test has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from werkzeug.serving import BaseWSGIServer, make_server


@contextmanager
def listening(
    application: Callable[..., Iterable[bytes]], where: str = "127.0.0.1"
) -> Iterator[BaseWSGIServer]:
    """Its server, on a port that is free or on `unix://` and a path.

    Its thread is asked to end and waited for before the socket is closed: one that finds its socket
    closed fails, and with it whatever test runs by then.
    """
    server = make_server(where, 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
