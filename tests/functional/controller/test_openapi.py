"""The API holds to its own description: whatever is sent, the answer is one that is described."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from controller.api import ROUTES, described
from controller.api.meta import DOORS
from controller.api.openapi import document
from tests.support.fuzzed import Fuzzed, fuzzed

CHECKS = [
    checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# Streams end when their client goes; what they say has tests of its own.
STREAMS = r"/events$|/stream$"
PATIENCE = 60  # seconds for one answer, on a busy machine


def test_every_route_is_described() -> None:
    """Queries, bodies and answers of each line of the table; and of nothing that is no line."""
    assert {(route.method, route.path) for route in ROUTES} == set(described.TABLE)
    assert set(described.DOORS) <= {door.path for door in DOORS}


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, shared_database: str | None
) -> Iterator[Fuzzed]:
    """A controller in a process of its own, with something of everything in it."""
    with fuzzed(tmp_path_factory.mktemp("fuzzed"), shared_database) as made:
        yield made


# Who may do what has tests of its own too: here each request has the token that it needs.
OPEN = {**document(ROUTES, DOORS), "security": []}
api = schemathesis.openapi.from_dict(OPEN).exclude(path_regex=STREAMS)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"GET /{'x' * 9000} HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        ("ZORK\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n", 400),
        (f"GET / HTTP/1.1\r\nHost: a\r\nX: {'x' * 9000}\r\n\r\n", 431),
    ],
    ids=["long address", "no HTTP", "no header", "long header"],
)
def test_what_is_no_http_is_a_problem_too(running: Fuzzed, sent: str, status: int) -> None:
    """What never reaches the application is refused in the same shape, with a cure."""
    address = urlsplit(running.url)
    assert address.hostname and address.port
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as line:
        line.sendall(sent.encode())
        told = b"".join(iter(lambda: line.recv(65536), b"")).decode()
    head, _, body = told.partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert "Content-Type: application/problem+json" in head
    assert json.loads(body)["status"] == status and json.loads(body)["cure"]


def _examples(number: int) -> Any:
    return settings(
        max_examples=number,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def _holds(case: Any, running: Fuzzed) -> None:
    running.aim(case)
    answer = case.call(running.url, headers=running.headers(case), timeout=PATIENCE)
    # A plan of what cannot be read is no refusal: its findings say so. And If-Match comes first.
    refused = case.path == "/api/v1/plans" or answer.status_code == 412
    held = CHECKS[:-1] if refused else CHECKS
    case.validate_response(answer, checks=held, headers=running.headers(case))


@api.parametrize()
@_examples(3)
def test_answers_are_as_described(case: Any, running: Fuzzed) -> None:
    """No 5xx, no undescribed status or body, and nothing that breaks the description taken in."""
    _holds(case, running)


@pytest.mark.full
@api.parametrize()
@_examples(60)
def test_answers_are_as_described_for_longer(case: Any, running: Fuzzed) -> None:
    """The same with twenty times as many requests."""
    _holds(case, running)
