"""A small honest image registry: it knows tags and their digests, and can be ill."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE, OWN = 5_000_000, 1_000  # bytes of the layer that all share, and of each image's own


@dataclass
class FakeRegistry:
    """Every tag exists, with a digest made of its name, unless the test says otherwise."""

    missing: set[str] = field(default_factory=set)
    ill: bool = False
    asked: list[str] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> FakeRegistry:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                registry.asked.append(self.path)
                if registry.ill:
                    self.send_error(503)
                elif self.path.split("/manifests/")[0].removeprefix("/v2/") in registry.missing:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Docker-Content-Digest", digest_of(self.path))
                    self.end_headers()

            def do_GET(self) -> None:
                """A manifest: a layer that all images share, and one of its own."""
                registry.asked.append(self.path)
                if registry.ill:
                    self.send_error(503)
                    return
                own = {"digest": digest_of(self.path.split("@")[-1]), "size": OWN}
                manifest = {"layers": [{"digest": digest_of("base"), "size": BASE}, own]}
                data = json.dumps(manifest).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def digest_of(path: str) -> str:
    return "sha256:" + hashlib.sha256(path.encode()).hexdigest()
