"""A server at which nothing may ever connect: packages name it, nodes must not."""

from __future__ import annotations

import socket
import threading


class Listener:
    """Counts TCP connections from one address."""

    def __init__(self, address: str) -> None:
        self._server = socket.create_server((address, 0))
        self.port = int(self._server.getsockname()[1])
        self._seen: list[str] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def take(self) -> list[str]:
        """Return the peers that connected since the last call."""
        seen, self._seen = self._seen, []
        return seen

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, peer = self._server.accept()
            except OSError:
                return
            self._seen.append(str(peer[0]))
            connection.close()
