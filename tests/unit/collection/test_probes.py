"""Probes over HTTP and TCP: read from a label, and asked as a client would ask."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _probes
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._probes import LABEL, Probe

HERE = ["127.0.0.2", "127.0.0.1"]  # nobody listens at the first


class Door(BaseHTTPRequestHandler):
    """Answers with the status that the path names."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's word
        """Quiet."""


@pytest.fixture
def port() -> Iterator[int]:
    """Where such a door is."""
    server = HTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("written", "probe"),
    [
        ("http://:8000/healthz?deep=1", Probe(8000, "/healthz?deep=1")),
        ("http://:8000", Probe(8000, "/")),
        ("tcp://:5432", Probe(5432)),
    ],
)
def test_a_probe_is_read_from_its_label(written: str, probe: Probe) -> None:
    """A port of the container; other labels are nobody's business."""
    assert _probes.of({LABEL: written, "other": "x"}) == probe
    assert _probes.of({"other": "x"}) is None


@pytest.mark.parametrize(
    "written",
    ["", "8000", "http://host:8000/", "https://:8000/", "tcp://:0", "tcp://:70000", "tcp://:1/a b",
     "http://:80/\r\nX: y"],
)  # fmt: skip
def test_what_is_no_probe_is_refused_before_anything_changes(written: str) -> None:
    """Nothing but the container itself is asked, and nothing but a path is sent."""
    services = {"db": {}, "web": {"labels": {LABEL: written}}}
    with pytest.raises(
        ConfigError, match=r"components\.shop: services\.web: label margrave\.probe"
    ):
        _probes.check("shop", services)


def test_http_passes_with_any_success(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """2xx and 3xx at one of the addresses; an error, another language, and silence do not."""
    monkeypatch.setattr(_probes, "PATIENCE", 60.0)
    assert Probe(port, "/204").passes(HERE)
    assert Probe(port, "/302").passes(HERE)
    assert not Probe(port, "/404").passes(HERE)
    assert not Probe(port, "/503").passes(HERE)
    assert not Probe(port, "/200").passes([])
    monkeypatch.setattr(_probes, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not Probe(silent.getsockname()[1], "/").passes(HERE[1:])


def test_tcp_passes_where_somebody_listens(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where nobody does any more, it does not."""
    monkeypatch.setattr(_probes, "PATIENCE", 60.0)
    assert Probe(port).passes(HERE[1:])
    with socket.create_server(("127.0.0.1", 0)) as gone:
        free = gone.getsockname()[1]
    assert not Probe(free).passes(HERE[1:])
