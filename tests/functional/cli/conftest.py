"""A controller of a few lines, and the command run against it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer, ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from margrave.cli import waiting
from margrave.cli.main import main
from tests.functional.cli import storefront

Answer = tuple[int, Any]
Route = Callable[["Call"], Answer]


@dataclass(frozen=True)
class Call:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass
class FakeController:
    """Answers what it was told to, and remembers what it was asked."""

    url: str = ""
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def on(self, method: str, path: str, status: int = 200, body: Any = None) -> None:
        """This answer from now on."""
        self.routes[method, path] = lambda _call: (status, body)

    def does(self, method: str, path: str, route: Route) -> None:
        """An answer that is made when asked."""
        self.routes[method, path] = route

    def lists(self, path: str, *items: dict[str, Any]) -> None:
        """A list that filters by the query's fields, as the API does."""

        def listed(call: Call) -> Answer:
            wanted = {key: value for key, value in call.query.items() if key != "limit"}
            deleted = wanted.get("state") == "DELETED"
            kept = [
                item
                for item in items
                # A part of one deployment does not say of itself at which site that is.
                if all(item.get(key, value) == value for key, value in wanted.items() if key != "q")
                and (deleted or item.get("state") != "DELETED")
            ]
            return 200, {"items": kept, "next": None}

        self.routes["GET", path] = listed

    def problem(self, method: str, path: str, status: int, detail: str, *errors: Any) -> None:
        """A refusal."""
        body = {"title": "refused", "status": status, "detail": detail, "errors": list(errors)}
        self.on(method, path, status, body)

    def answer(self, call: Call) -> Answer:
        """The route's answer, or 404."""
        self.calls.append(call)
        route = self.routes.get((call.method, call.path))
        if route is None:
            return 404, {"title": "not found", "detail": f"{call.path} is nothing here"}
        return route(call)

    def sent(self, method: str, path: str) -> list[Any]:
        """The bodies that came to a path."""
        return [one.body for one in self.calls if (one.method, one.path) == (method, path)]


def _handler(fake: FakeController) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            parts = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            call = Call(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                json.loads(data) if data else None,
                dict(self.headers),
            )
            status, body = fake.answer(call)
            kind = "application/json" if status < 400 else "application/problem+json"
            text = body if isinstance(body, str) else json.dumps(body)
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if body is text else kind)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815 - the base class calls them so

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@contextmanager
def _serving(server: BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def controller() -> Iterator[FakeController]:
    """The fake, listening."""
    fake = FakeController()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.url = f"http://127.0.0.1:{server.server_port}"
    with _serving(server):
        yield fake


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[FakeController]:
    """A runner's socket; `url` is the configuration that leads to it."""
    fake = FakeController()
    config = tmp_path / "margrave.toml"
    config.write_text('[site]\nname = "harbor"\n')
    (tmp_path / "state").mkdir()
    fake.url = str(config)
    server = ThreadingUnixStreamServer(str(tmp_path / "state" / "runner.sock"), _handler(fake))
    fake.on("GET", "/status", 200, {"site": "harbor"})
    with _serving(server):
        yield fake


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its answer as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Run:
    """`margrave …` against the fake, as a user without a terminal."""
    monkeypatch.setenv("MARGRAVE_URL", controller.url)
    monkeypatch.setenv("MARGRAVE_TOKEN", "secret")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(waiting, "PERIOD", 0.01)
    monkeypatch.setattr(waiting, "GRACE", 0.05)

    def call(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["margrave", *words])
        capsys.readouterr()
        code = main()
        said = capsys.readouterr()
        return Ran(int(code), said.out, said.err)

    return call


@pytest.fixture
def known(controller: FakeController) -> FakeController:
    """A controller that knows the application and has it at harbor."""
    storefront.told(controller)
    return controller
