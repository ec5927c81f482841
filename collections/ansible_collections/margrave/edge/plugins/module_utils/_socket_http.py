# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP over the engine's UNIX socket, in a few lines: http.client costs more to import than to use.

So does `socket`, which names each of the system's constants; `_socket` is what it stands upon.
HTTP/1.0 is asked for: the answer is neither chunked nor kept open, and ends with the stream.
"""

from __future__ import annotations

import json
import time
from _socket import AF_UNIX, SOCK_STREAM, socket, timeout
from collections.abc import Iterator
from contextlib import closing

from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._record import record

CHUNK = 65536
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
HEAD_END = b"\r\n\r\n"
# How often whoever reads a slow answer may look around.
TICK = 1.0


@record
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


@record
class SocketHttp:
    """Requests to one UNIX socket."""

    path: str

    def request(
        self, method: str, target: str, body: object = None, timeout: float = 60.0
    ) -> Answer:
        """Ask, and read the whole answer; EngineError when it does not come in time."""
        end = time.monotonic() + timeout
        data = b""
        for chunk in self._chunks(method, target, body, {}):
            data += chunk
            if time.monotonic() > end:
                raise _silent(self.path, f"no answer after {timeout:.0f} s")
        head, _end, rest = data.partition(HEAD_END)
        return Answer(self._status(head), rest)

    def lines(
        self, method: str, target: str, headers: dict[str, str]
    ) -> Iterator[tuple[int, bytes]]:
        """Ask, and give status and line as they come; an empty line each second that nothing does.

        Before the answer begins the status is 0.
        """
        status, data = 0, b""
        for chunk in self._chunks(method, target, None, headers):
            data += chunk
            if not status and HEAD_END in data:
                head, _end, data = data.partition(HEAD_END)
                status = self._status(head)
            *whole, data = data.split(b"\n") if status else [data]
            if not chunk:
                yield status, b""
            yield from ((status, line) for line in whole if line.strip())
        # An error is often told in the status alone, or without an end of its line.
        yield status or self._status(data), data

    def _chunks(
        self, method: str, target: str, body: object, headers: dict[str, str]
    ) -> Iterator[bytes]:
        """The bytes of the answer as they come, and nothing each second that none do."""
        connection = socket(AF_UNIX, SOCK_STREAM)
        connection.settimeout(TICK)
        with closing(connection):
            try:
                connection.connect(self.path)
                connection.sendall(_request(method, target, body, headers))
                while True:
                    try:
                        chunk = connection.recv(CHUNK)
                    except timeout:
                        yield b""
                        continue
                    if not chunk:
                        return
                    yield chunk
            except OSError as error:
                raise _silent(self.path, str(error)) from error

    def _status(self, head: bytes) -> int:
        words = head.split(b"\r\n", 1)[0].split()
        if len(words) < 2:
            raise _silent(self.path, "it closed the connection")
        return int(words[1])


def quoted(text: str, kept: str = "") -> str:
    """A text as part of a target; `urllib.parse` costs more to import than all else here."""
    plain = UNRESERVED + kept.encode()
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in text.encode())


def _request(method: str, target: str, body: object, headers: dict[str, str]) -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    head = {"Host": "engine", "Content-Length": str(len(data)), **headers}
    if data:
        head["Content-Type"] = "application/json"
    lines = [f"{method} {target} HTTP/1.0", *(f"{name}: {text}" for name, text in head.items())]
    return "\r\n".join([*lines, "", ""]).encode() + data


def _silent(path: str, finding: str) -> EngineError:
    return EngineError(
        "engine-unreachable",
        f"the container engine does not answer on {path}: {finding}",
        "start it: systemctl enable --now podman.socket (or docker.socket)",
    )
