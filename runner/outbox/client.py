"""The controller over HTTP: three calls and a stream. Foreign errors end at this door."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from margrave import __version__
from margrave.errors import Conflict, MargraveError, Refused, Unreachable
from margrave.secret import Secret
from margrave.tls_files import Line
from runner.outbox.trust import Trust
from runner.outbox.wire import Answer, Wire

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

    def __init__(
        self,
        url: str,
        site: str,
        token: Secret,
        line: Line,
        current_token: Callable[[], Secret | None] = lambda: None,
    ) -> None:
        self._wire = Wire(
            f"{url.rstrip('/')}/api/v1/sites/{site}/",
            {"User-Agent": f"margrave/{__version__}"},
            Trust(line).context,
        )
        self._site = site
        self._token = token
        self._current_token = current_token  # as the configuration has it by now
        self._gzip = True

    def report(self, body: Mapping[str, Any]) -> int:
        """Deliver events; the number up to which the controller has them. Expected on a gap."""
        answer = self._post("reports", body, compress=self._gzip)
        if answer.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE and self._gzip:
            self._gzip = False
            answer = self._post("reports", body, compress=False)
        if answer.status == HTTPStatus.CONFLICT:
            told = _json(answer)
            if isinstance(told.get("expected"), int):
                raise Expected(told["expected"])
        return int(self._told(answer, "ack", int)["ack"])

    def heartbeat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Say that we live; what the head is, and which commands wait."""
        return self._told(self._post("heartbeat", body, compress=False), "time", str)

    @contextmanager
    def stream(self) -> Iterator[Iterator[tuple[str, str]]]:
        """Hints as (event, data), until the line breaks."""
        with self._wire.listen("stream", _STREAM_SILENCE, self._authorization()) as opened:
            begun = opened.begun
            answer = self._checked(begun if _is_success(begun) else opened.whole())
            if not answer.kind.startswith(_STREAM):
                raise _foreign(answer)
            yield parse_events(opened.lines())

    def close(self) -> None:
        """Hang up; a stream that is being read ends."""
        self._wire.close()

    def _post(self, what: str, body: Mapping[str, Any], *, compress: bool) -> Answer:
        data = json.dumps(body, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json"}
        if compress and len(data) >= _GZIP_FROM:
            data, headers = gzip.compress(data, 5), headers | {"Content-Encoding": "gzip"}
        answer = self._wire.post(what, data, headers | self._authorization())
        if answer.status == HTTPStatus.UNAUTHORIZED and self._renewed():
            answer = self._wire.post(what, data, headers | self._authorization())
        return answer

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token.reveal()}"}

    def _renewed(self) -> bool:
        """Take the token that the configuration has by now; whether it is another one."""
        token = self._current_token()
        if token is None or token == self._token:
            return False
        self._token = token
        return True

    def _checked(self, answer: Answer) -> Answer:
        if _is_success(answer):
            return answer
        if answer.status < HTTPStatus.BAD_REQUEST:
            raise _foreign(answer)
        told = _json(answer)
        message = f"{answer.url}: {answer.status} {told.get('detail') or ''}".strip()
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self._renewed()  # for the next call; of a stream there is no second try
            detail = f": {told['detail']}" if told.get("detail") else ""
            raise Refused(
                f"the controller refused this token{detail}",
                f"margrave site token create {self._site} makes a new one for controller.token",
            )
        if answer.status == HTTPStatus.FORBIDDEN:
            raise self._not_ours(str(told.get("detail") or message))
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unreachable(message, "look at the controller's log")
        raise MargraveError(message, "controller and runner may be too many versions apart")

    def _not_ours(self, detail: str) -> Refused:
        """The token is valid, and not for this site."""
        return Refused(
            f"{detail}, site.name is {self._site}",
            "set site.name to the token's site, or controller.token to a token of this site"
            f" (margrave site token create {self._site})",
        )

    def _told(self, answer: Answer, key: str, kind: type) -> dict[str, Any]:
        """Return the controller's answer; Unreachable when another one answers in its place."""
        value = _json(self._checked(answer))
        if not isinstance(value.get(key), kind) or isinstance(value[key], bool):
            raise _foreign(answer)
        return value


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


def _is_success(answer: Answer) -> bool:
    return HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES


def _foreign(answer: Answer) -> Unreachable:
    """A sign-in page of the network, a proxy's greeting, a redirect: friendly, and not ours."""
    return Unreachable(
        f"{answer.url}: {answer.status}, but not as a controller answers",
        "check controller.url, and what stands between: a proxy or a sign-in page",
    )


def _json(answer: Answer) -> dict[str, Any]:
    try:
        value = json.loads(answer.data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
