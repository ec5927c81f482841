"""The line to the controller over real HTTP, against a small server that behaves like it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from margrave.errors import MargraveError, Refused, Unreachable
from margrave.secret import Secret
from runner.outbox.client import Controller, Expected
from runner.settings import Controller as Line


class Server(ThreadingHTTPServer):
    """Notes what came, and answers what it is told to."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.came: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.stream = b""
        self.stream_type = "text/event-stream"
        self.portal: tuple[int, bytes] | None = None  # answers in the controller's place

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_POST(self) -> None:
        """Note it and answer."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {key.lower(): value for key, value in self.headers.items()}
        if headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        self.server.came.append((self.path, headers, json.loads(data)))
        if self.server.portal:
            self._send(*self.server.portal, "text/html")
            return
        status, body = self.server.answers.pop(0)
        self._send(status, json.dumps(body).encode(), "application/json")

    def do_GET(self) -> None:
        """The stream, which ends."""
        self._send(200, self.server.stream, self.server.stream_type)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a free port."""
    made = Server()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def controller(server: Server) -> Iterator[Controller]:
    """The client of a site."""
    made = Controller(server.url + "/", "harbor", Secret("t0ken"), Line())
    yield made
    made.close()


def test_a_report_names_its_site_and_carries_its_token(
    server: Server, controller: Controller
) -> None:
    """Path, token and body are those of the contract."""
    server.answers = [(200, {"ack": 3})]
    assert controller.report({"events": []}) == 3
    (path, headers, body) = server.came[0]
    assert path == "/api/v1/sites/harbor/reports"
    assert headers["authorization"] == "Bearer t0ken"
    assert body == {"events": []}


def test_a_token_that_is_refused_is_named(server: Server, controller: Controller) -> None:
    """In plain words, with the command that makes a new one."""
    server.answers = [(401, {"detail": "this token is not valid: unknown, revoked or expired"})]
    with pytest.raises(Refused, match=r"^the controller refused this token") as refused:
        controller.heartbeat({})
    assert "margrave site token create harbor" in refused.value.cure


def test_a_token_of_another_site_is_named(server: Server, controller: Controller) -> None:
    """Both sites stand in the message."""
    server.answers = [(403, {"detail": "this token belongs to site depot"})]
    with pytest.raises(Refused, match=r"this token belongs to site depot, site\.name is harbor"):
        controller.report({"events": []})


def test_a_token_that_was_replaced_is_used_at_once(server: Server) -> None:
    """After a refusal the configuration's present token is tried, and kept."""
    made = Controller(server.url, "harbor", Secret("old"), Line(), lambda: Secret("new"))
    server.answers = [(401, {}), (200, {"ack": 1}), (200, {"ack": 2})]
    assert [made.report({}), made.report({})] == [1, 2]
    tokens = [headers["authorization"] for _, headers, _ in server.came]
    assert tokens == ["Bearer old", "Bearer new", "Bearer new"]
    made.close()


def test_large_reports_travel_compressed_where_the_controller_takes_it(
    server: Server, controller: Controller
) -> None:
    """Who answers 415 gets it plain, from then on."""
    body = {"events": ["x" * 10_000]}
    server.answers = [(200, {"ack": 1}), (415, {}), (200, {"ack": 2}), (200, {"ack": 3})]
    assert [controller.report(body) for _ in range(3)] == [1, 2, 3]
    encodings = [headers.get("content-encoding") for _, headers, _ in server.came]
    assert encodings == ["gzip", "gzip", None, None]


def test_a_gap_is_told_by_its_number(server: Server, controller: Controller) -> None:
    """409 with `expected` is no failure but a question."""
    server.answers = [(409, {"expected": 17, "detail": "events are missing"})]
    with pytest.raises(Expected) as raised:
        controller.report({"events": []})
    assert raised.value.number == 17


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Refused), (403, Refused), (503, Unreachable), (422, MargraveError)]
)
def test_refusals_become_this_products_errors(
    server: Server, controller: Controller, status: int, kind: type[MargraveError]
) -> None:
    """Each with what the controller said."""
    server.answers = [(status, {"detail": "because"})]
    with pytest.raises(kind, match="because"):
        controller.heartbeat({})


def test_a_controller_that_is_away_is_unreachable(server: Server) -> None:
    """No foreign exception leaves the door."""
    server.shutdown()
    server.server_close()
    with pytest.raises(Unreachable):
        Controller(server.url, "harbor", Secret("t"), Line()).heartbeat({})


def test_the_stream_hands_hints_on_until_it_ends(server: Server, controller: Controller) -> None:
    """Comments keep it alive, events are hints."""
    server.stream = b": beat\n\nevent: revision\ndata: {}\n\nevent: command\ndata: {}\n\n"
    with controller.stream() as events:
        assert [event for event, _ in events] == ["revision", "command"]


@pytest.mark.parametrize(
    "portal",
    [
        (200, b"<html>Welcome to the guests' network</html>"),
        (200, b'{"status": "ok"}'),
        (200, b'{"ack": true, "time": 7}'),
        (200, b"[]"),
        (204, b""),
        (302, b""),
    ],
)
def test_who_answers_in_the_controllers_place_is_not_believed(
    server: Server, controller: Controller, portal: tuple[int, bytes]
) -> None:
    """A sign-in page or a proxy's greeting delivers nothing, and is told as trouble."""
    server.portal = portal
    for ask in (controller.report, controller.heartbeat):
        with pytest.raises(Unreachable, match="not as a controller answers"):
            ask({"events": []})


def test_a_page_is_no_stream(server: Server, controller: Controller) -> None:
    """It would end at once, and each time all would be asked anew."""
    server.stream, server.stream_type = b"<html></html>", "text/html"
    with pytest.raises(Unreachable, match="not as a controller answers"), controller.stream():
        pass
