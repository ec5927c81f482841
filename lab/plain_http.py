"""HTTP to the lab's own registry: never through a proxy that the environment names."""

from __future__ import annotations

import http.client
from typing import NamedTuple
from urllib.parse import urlsplit

from lab.errors import LabError


class Answer(NamedTuple):
    status: int
    location: str


def ask(verb: str, url: str, data: bytes | None = None, kind: str = "") -> Answer:
    """The answer, whatever its status; LabError when nobody answers."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    headers = {"Content-Type": kind} if kind else {}
    if data is None and verb == "POST":
        headers["Content-Length"] = "0"
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        connection.request(verb, path, body=data, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return Answer(answer.status, answer.headers.get("Location") or "")
    except (OSError, http.client.HTTPException) as error:
        raise LabError(f"{verb} {url}: {error}") from error
    finally:
        connection.close()
