"""The controller over HTTP: three calls and a stream. Foreign errors end at this door."""

from __future__ import annotations

import gzip
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import httpx

from margrave.errors import Conflict, MargraveError, Refused, Unreachable
from margrave.secret import Secret

_SECONDS: Final = 15.0
# The stream says something at least every so often, or it is dead.
_STREAM_SILENCE: Final = 60.0
_GZIP_FROM: Final = 4096
_STREAM: Final = "text/event-stream"


class Expected(Conflict):
    """The controller waits for another sequence number than the one that came."""

    def __init__(self, number: int) -> None:
        super().__init__(f"the controller expects event {number}")
        self.number = number


class Controller:
    """One site's line to its controller."""

    def __init__(self, url: str, site: str, token: Secret, ca_file: str = "") -> None:
        self._base = f"{url.rstrip('/')}/api/v1/sites/{site}"
        verify = ssl.create_default_context(cafile=ca_file) if ca_file else True
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {token.reveal()}"},
            timeout=_SECONDS,
            verify=verify,
            trust_env=False,
        )
        self._gzip = True

    def report(self, body: Mapping[str, Any]) -> int:
        """Deliver events; the number up to which the controller has them. Expected on a gap."""
        answer = self._post("reports", body, compress=self._gzip)
        if answer.status_code == httpx.codes.UNSUPPORTED_MEDIA_TYPE and self._gzip:
            self._gzip = False
            answer = self._post("reports", body, compress=False)
        if answer.status_code == httpx.codes.CONFLICT:
            told = _json(answer)
            if isinstance(told.get("expected"), int):
                raise Expected(told["expected"])
        return int(_told(answer, "ack", int)["ack"])

    def heartbeat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Say that we live; what the head is, and which commands wait."""
        return _told(self._post("heartbeat", body, compress=False), "time", str)

    @contextmanager
    def stream(self) -> Iterator[Iterator[tuple[str, str]]]:
        """Hints as (event, data), until the line breaks."""
        timeout = httpx.Timeout(_SECONDS, read=_STREAM_SILENCE)
        opened = self._client.stream("GET", f"{self._base}/stream", timeout=timeout)
        with _translated(self._base), opened as answer:
            if not answer.is_success:
                answer.read()
            if not _checked(answer).headers.get("content-type", "").startswith(_STREAM):
                raise _foreign(answer)
            yield parse_events(answer.iter_lines())

    def close(self) -> None:
        """Hang up; a stream that is being read ends."""
        self._client.close()

    def _post(self, what: str, body: Mapping[str, Any], *, compress: bool) -> httpx.Response:
        data = json.dumps(body, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json"}
        if compress and len(data) >= _GZIP_FROM:
            data, headers = gzip.compress(data, 5), headers | {"Content-Encoding": "gzip"}
        with _translated(self._base):
            return self._client.post(f"{self._base}/{what}", content=data, headers=headers)


def parse_events(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Server-sent events as (event, data); comments and ids are left out."""
    event = "message"
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield event, "\n".join(data)
            event, data = "message", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event = value
        elif name == "data":
            data.append(value)


@contextmanager
def _translated(where: str) -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise Unreachable(f"{where}: {reason}", "check controller.url and the network") from error


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    if not answer.is_error:
        raise _foreign(answer)
    told = _json(answer)
    message = f"{answer.request.url}: {answer.status_code} {told.get('detail') or ''}".strip()
    if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise Refused(message, "check controller.token: it belongs to one site")
    if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Unreachable(message, "look at the controller's log")
    raise MargraveError(message, "controller and runner may be too many versions apart")


def _told(answer: httpx.Response, key: str, kind: type) -> dict[str, Any]:
    """What the controller says; Unreachable when another one answers in its place."""
    value = _json(_checked(answer))
    if not isinstance(value.get(key), kind) or isinstance(value[key], bool):
        raise _foreign(answer)
    return value


def _foreign(answer: httpx.Response) -> Unreachable:
    """A sign-in page of the network, a proxy's greeting, a redirect: friendly, and not ours."""
    return Unreachable(
        f"{answer.request.url}: {answer.status_code}, but not as a controller answers",
        "check controller.url, and what stands between: a proxy or a sign-in page",
    )


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        value = answer.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
