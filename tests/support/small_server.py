"""The one small server behind the fakes: HTTP on loopback, on threads of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form that was sent."""
        return dict(parse_qsl(self.body.decode()))


@dataclass(frozen=True)
class Told:
    """An answer; what is no bytes is told as JSON."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class SmallServer:
    """It says what `answer` says, until it is stopped."""

    _server: ThreadingHTTPServer | None = None

    def answer(self, asked: Asked) -> Told:
        """What is told to a request."""
        raise NotImplementedError

    @property
    def address(self) -> str:
        """host:port"""
        assert self._server is not None, "it was not started"
        return f"127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> Self:
        """Listen on a port that is free."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def stop(self) -> None:
        """Answer nothing any more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def _handler(server: SmallServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = dict(parse_qsl(url.query))
            told = server.answer(Asked(self.command, url.path, query, dict(self.headers), body))
            data = told.body if isinstance(told.body, bytes) else json.dumps(told.body).encode()
            self.send_response(told.status)
            if not isinstance(told.body, bytes):
                self.send_header("Content-Type", "application/json")
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = do_POST = _handle  # noqa: N815 - the base class calls them so

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
