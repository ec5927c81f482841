"""The little HTTP that the demo speaks, over loopback and to its own nodes."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from demo.places import DemoError

# Never through a proxy: all of it is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(method: str, url: str, token: str = "", body: Any = None, timeout: float = 30.0) -> Any:
    """The JSON answer, or DemoError with what the answer says."""
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - our own URLs
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        with error:
            said = error.read().decode(errors="replace")
        raise DemoError(f"{method} {url} answered {error.code}: {said[:500]}") from error
    except OSError as error:
        raise DemoError(f"{url} does not answer: {error}") from error
    return json.loads(text) if text else None


def answers(url: str, timeout: float = 1.0) -> bool:
    """Whether a GET is answered with success."""
    try:
        with _OPENER.open(url, timeout=timeout) as response:
            return bool(response.status < 400)
    except OSError:
        return False
