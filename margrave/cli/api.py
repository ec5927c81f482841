"""The controller (or a runner's socket) over HTTP: JSON in and out, problems as exceptions."""

from __future__ import annotations

import json
import ssl
import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from margrave import __version__, tls_files
from margrave.cli.exits import Problem
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# Longer than the controller's comment lines on a quiet stream, so silence means a lost link.
STREAM_SILENCE = 60.0
# Seconds to open a connection, and those that a call at the very end of a wait still gets.
CONNECT = 10.0
SHORTEST = 1.0
# The most that the controller gives at once.
PAGE = 200


@dataclass(frozen=True, slots=True)
class Event:
    """One message of an event stream."""

    id: str
    kind: str
    data: dict[str, Any]


class Api:
    """One HTTP service; every method raises Problem or Unreachable."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        pair: tuple[Path, Path] | None = None,
        uds: Path | None = None,
        timeout: float = 60.0,
    ) -> None:
        headers = {"User-Agent": f"margrave/{__version__}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self.url = url.rstrip("/")
        self._where = str(uds) if uds else self.url
        self._timeout = timeout
        self._end: float | None = None
        # A proxy of the environment must not stand between two programs of one machine.
        outside = uds is None and urlsplit(url).hostname not in LOOPBACK
        trust = _trust(self.url, pair)
        self._client = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=CONNECT),
            transport=httpx.HTTPTransport(uds=str(uds), verify=trust) if uds else None,
            verify=trust,
            trust_env=outside,
        )

    def end_by(self, moment: float) -> None:
        """Let no call wait for its answer beyond a moment of `time.monotonic`."""
        self._end = moment

    def get(self, path: str, **params: Any) -> Any:
        """The answer's JSON (text, when it is none)."""
        return self.send("GET", path, params=params)

    def head(self, path: str) -> dict[str, str]:
        """The headers of the answer, in small letters."""
        try:
            response = self._client.head(path)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return {name.lower(): value for name, value in response.headers.items()}

    def post(self, path: str, body: Any = None, key: str = "") -> Any:
        """POST with a JSON body; `key` makes it safe to send twice."""
        return self.send("POST", path, body=body, key=key)

    def send(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: dict[str, Any] | None = None,
        key: str = "",
    ) -> Any:
        """One call; with an idempotency key a link lost in the middle is tried once more."""
        try:
            return self._answer(self._once(method, path, body, params, key))
        except httpx.TransportError as error:
            if not key:
                raise self._unreachable(error) from error
        try:
            return self._answer(self._once(method, path, body, params, key))
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _once(
        self, method: str, path: str, body: Any, params: dict[str, Any] | None, key: str
    ) -> httpx.Response:
        return self._client.request(
            method,
            path,
            json=body,
            params={name: value for name, value in (params or {}).items() if value is not None},
            headers={"Idempotency-Key": key} if key else None,
            timeout=self._limit(),
        )

    def _limit(self) -> httpx.Timeout:
        left = inf if self._end is None else max(SHORTEST, self._end - time.monotonic())
        return httpx.Timeout(min(self._timeout, left), connect=min(CONNECT, left))

    def _answer(self, response: httpx.Response) -> Any:
        if response.is_success:
            return _decoded(response)
        body = _decoded(response)
        if not isinstance(body, dict):
            body = {"title": response.reason_phrase, "detail": self._strange(response)}
        if response.status_code == 401 and "Authorization" not in response.request.headers:
            # The controller speaks to programs, and names the header; here somebody can sign in.
            body["cure"] = f"margrave login {self.url}"
        raise Problem(response.status_code, body)

    def _strange(self, response: httpx.Response) -> str:
        return f"{self._where} answered {response.status_code} {response.reason_phrase}"

    def _unreachable(self, error: Exception) -> Unreachable:
        what = str(error) or type(error).__name__
        cure = "is it running there?"
        if "CERTIFICATE_VERIFY_FAILED" in what:
            cure = "SSL_CERT_FILE names the CA of its certificate"
        elif tls_files.is_asked_for(error):
            login = f"margrave login {self.url} --cert FILE --key FILE"
            cure = f"it wants a certificate that it knows: {login}"
        return Unreachable(f"{self._where} does not answer: {what}", cure)

    def page(self, path: str, limit: int | None = None, **params: Any) -> dict[str, Any]:
        """A whole list as `{items, next}`, cursors followed; `limit` ends it earlier."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            want = PAGE if limit is None else min(PAGE, limit - len(items))
            answer = self.get(path, limit=want, cursor=cursor, **params)
            items += answer["items"]
            cursor = answer.get("next")
            if cursor is None or (limit is not None and len(items) >= limit):
                return {"items": items, "next": cursor}

    def items(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """All items of a list."""
        found: list[dict[str, Any]] = self.page(path, **params)["items"]
        return found

    def events(self, path: str, last: str = "", **params: Any) -> Iterator[Event | None]:
        """None once the stream is open, then the messages of that one connection."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        query = {name: value for name, value in params.items() if value is not None}
        timeout = httpx.Timeout(STREAM_SILENCE, connect=CONNECT)
        try:
            with self._client.stream(
                "GET", path, params=query, headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    response.read()
                    self._answer(response)
                yield None
                yield from messages(response.iter_lines())
        except httpx.TransportError as error:
            raise self._unreachable(error) from error


def _trust(url: str, pair: tuple[Path, Path] | None) -> ssl.SSLContext:
    """Whom SSL_CERT_FILE names is believed, on this machine too; the pair is what is shown."""
    if urlsplit(url).scheme != "https":  # reading a list of authorities takes a while
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context = httpx.create_ssl_context()
    except OSError as error:
        raise MargraveError(
            f"the CA of SSL_CERT_FILE cannot be read: {error.strerror}", "name a PEM file"
        ) from error
    if pair:
        tls_files.raise_for(tls_files.show(context, *pair))
    return context


def messages(lines: Iterator[str]) -> Iterator[Event]:
    """Server-sent events from their lines; comments and messages without JSON are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name in fields else value
            continue
        event = _event(fields)
        fields = {}
        if event is not None:
            yield event


def _event(fields: dict[str, str]) -> Event | None:
    try:
        data = json.loads(fields.get("data", ""))
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    return Event(fields.get("id", ""), fields.get("event", "message"), data)


def _decoded(response: httpx.Response) -> Any:
    if "json" in response.headers.get("content-type", ""):
        try:
            return response.json()
        except ValueError:
            return None
    return response.text or None
