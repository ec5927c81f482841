# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP over the engine's UNIX socket, in a few lines: http.client costs more to import than to use.

HTTP/1.0 is asked for: the answer is neither chunked nor kept open, and ends with the stream.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError

CHUNK = 65536


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    body: bytes

    def value(self) -> object:
        """The JSON in the body, or None when there is none."""
        return json.loads(self.body) if self.body.strip() else None

    def message(self) -> str:
        """The engine's own words about what went wrong."""
        try:
            value = self.value()
        except ValueError:
            return self.body.decode("utf-8", "replace").strip()
        if isinstance(value, dict):
            return str(value.get("message") or value.get("error") or value.get("cause") or "")
        return str(value or "")


@dataclass(frozen=True)
class SocketHttp:
    """Requests to one UNIX socket."""

    path: str

    def request(
        self, method: str, target: str, body: object = None, timeout: float = 60.0
    ) -> Answer:
        """Ask, and read the whole answer."""
        with self._send(method, target, body, {}, timeout) as stream:
            status = _status(stream)
            try:
                return Answer(status, stream.read())
            except OSError as error:
                raise _silent(self.path, error) from error

    def lines(
        self, method: str, target: str, headers: dict[str, str], silence: float
    ) -> Iterator[tuple[int, bytes]]:
        """Ask, and give status and line for each line as it comes; socket.timeout after silence."""
        with self._send(method, target, None, headers, silence) as stream:
            status = _status(stream)
            for line in stream:
                if line.strip():
                    yield status, line
            yield status, b""

    def _send(
        self, method: str, target: str, body: object, headers: dict[str, str], timeout: float
    ) -> socket.SocketIO:
        data = b"" if body is None else json.dumps(body).encode()
        head = {"Host": "engine", "Content-Length": str(len(data)), **headers}
        if data:
            head["Content-Type"] = "application/json"
        lines = [f"{method} {target} HTTP/1.0", *(f"{name}: {text}" for name, text in head.items())]
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout)
            connection.connect(self.path)
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + data)
            return connection.makefile("rb", CHUNK)
        except OSError as error:
            raise _silent(self.path, error) from error
        finally:
            # The stream made from it keeps the connection open until the stream is closed.
            connection.close()


def _status(stream: socket.SocketIO) -> int:
    """The answer's status; its headers are read over."""
    try:
        first = stream.readline().split()
        while stream.readline().strip():
            continue
    except socket.timeout:
        # Python 3.9 knows it apart from TimeoutError; a pull gives it a meaning of its own.
        raise
    except OSError as error:
        raise _silent("the socket", error) from error
    if len(first) < 2:
        raise EngineError(
            "engine-silent",
            "the container engine closed the connection without an answer",
            "look at its journal: journalctl -u podman -u docker",
        )
    return int(first[1])


def _silent(path: str, error: OSError) -> EngineError:
    return EngineError(
        "engine-unreachable",
        f"the container engine does not answer on {path}: {error}",
        "start it: systemctl enable --now podman.socket (or docker.socket)",
    )
