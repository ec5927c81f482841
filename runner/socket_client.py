"""The way to a running runner: HTTP over the UNIX socket in its state folder."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from margrave.errors import Conflict, MargraveError, NotFound, Refused, Unreachable

_SECONDS: Final = 660.0
_KINDS: Final = {
    401: Refused,
    403: Refused,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: Unreachable,
}


def ask(
    path: Path, method: str, what: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The runner's answer; its problems as this product's errors."""
    connection = _Connection(path)
    try:
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json"} if data else {}
        connection.request(method, what, data, headers)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(
            f"no runner answers at {path}: {error}", "margrave runner serve, or --config"
        ) from error
    finally:
        connection.close()
    value: dict[str, Any] = json.loads(text) if text else {}
    if answer.status >= 400:
        kind = Unreachable if answer.status >= 500 else _KINDS.get(answer.status, MargraveError)
        raise kind(str(value.get("detail") or answer.reason), str(value.get("cure") or ""))
    return value


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("runner", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Open the socket instead of a port."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
