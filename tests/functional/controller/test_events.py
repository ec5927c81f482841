"""Streams: everything once and in order, resumed where it broke off, never starving the rest."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from flask import Flask

from controller.app import create_app
from controller.events.broker import Broker
from controller.events.subscription import QUEUE, Message
from controller.parts import Parts
from controller.store import events
from controller.store.words import EventKind
from tests.functional.controller.kit import Api, Runner, add_deployment, add_site, placed
from tests.support.listening import listening

PATIENCE = httpx.Timeout(60)


@pytest.fixture
def address(parts: Parts, app: Flask) -> Iterator[str]:
    """The controller on a real port, with the events' thread running."""
    parts.broker.start()
    with listening(app) as server:
        yield f"http://127.0.0.1:{server.port}"
        parts.broker.stop()


@contextmanager
def _stream(url: str, token: str = "viewer", **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    wanted = {"Authorization": f"Bearer {token}", **headers}
    with httpx.stream("GET", url, headers=wanted, timeout=PATIENCE) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        for line in lines:
            if line == ": open":
                break
        yield _events(lines)


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    found: dict[str, Any] = {}
    for line in lines:
        if not line and "event" in found:
            yield found
            found = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            found[name] = json.loads(value) if name == "data" else value


def test_a_report_is_streamed_with_what_it_changed(address, parts: Parts, harbor: Runner):
    """A placement's event and its deployment's follow each other, with ids and one line of data."""
    uuid = add_deployment(parts, "harbor")
    with _stream(f"{address}/api/v1/events") as stream:
        harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
        harbor.report("placement", placed(uuid, "harbor-1", "INSTALLING", "PENDING"))
        found = [next(stream) for _ in range(3)]
    assert [one["event"] for one in found] == ["placement", "placement", "deployment"]
    assert [int(one["id"]) for one in found] == sorted(int(one["id"]) for one in found)
    assert found[1]["data"]["state"] == "INSTALLING"
    assert found[1]["data"]["from"] == "PENDING"
    assert found[2]["data"]["state"] == "INSTALLING"
    assert all(one["data"]["at"] for one in found)


def test_a_stream_resumes_behind_its_last_event(address, parts: Parts, harbor: Runner):
    """Last-Event-ID brings what was missed, each once, and then what comes."""
    uuid = add_deployment(parts, "harbor")
    with _stream(f"{address}/api/v1/events") as stream:
        harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
        last = next(stream)["id"]
    harbor.report("placement", placed(uuid, "harbor-1", "INSTALLING", "PENDING"))
    with _stream(f"{address}/api/v1/events", **{"Last-Event-ID": last}) as stream:
        missed = [next(stream), next(stream)]
        harbor.report("placement", placed(uuid, "harbor-1", "INSTALLED", "INSTALLING"))
        following = next(stream)
    numbers = [int(one["id"]) for one in [*missed, following]]
    assert numbers == [int(last) + 1, int(last) + 2, int(last) + 3]
    assert following["data"]["state"] == "INSTALLED"


def test_an_id_from_another_life_means_read_again(address, parts: Parts):
    """After a restored database a client with a later id is told to read everything again."""
    with _stream(f"{address}/api/v1/events", **{"Last-Event-ID": "999999"}) as stream:
        assert next(stream)["event"] == "resync"


def test_filters_by_site_and_deployment(address, parts: Parts, harbor: Runner):
    """Who asks for one deployment hears of no other."""
    one, two = add_deployment(parts, "harbor", "one"), add_deployment(parts, "harbor", "two")
    with _stream(f"{address}/api/v1/events?deployment={two}") as stream:
        harbor.report("placement", placed(one, "harbor-1", "PENDING"))
        harbor.report("placement", placed(two, "harbor-1", "PENDING"))
        assert next(stream)["data"]["deployment"] == two


def test_a_runner_hears_hints_of_its_own_site_only(address, parts: Parts, harbor: Runner, client):
    """`command` and `revision` reach the site that they are for, without ids."""
    add_site(parts, "depot")
    operator = Api(client, "operator")
    with _stream(f"{address}/api/v1/sites/harbor/stream", "runner-harbor") as stream:
        operator.post("/sites/depot/reload")
        parts.broker.hint("revision", "depot", {"head": "d"})
        parts.broker.hint("revision", "harbor", {"head": "h"})
        operator.post("/sites/harbor/reload")
        first, second = next(stream), next(stream)
    assert (first["event"], first["data"], first.get("id")) == ("revision", {"head": "h"}, None)
    assert second["event"] == "command"


def test_an_operation_is_followed_to_its_end(address, parts: Parts, harbor: Runner):
    """started, progress, log, end: then the stream closes by itself."""
    uuid = add_deployment(parts, "harbor")
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "running",
    }
    harbor.report("operation", operation)
    with _stream(f"{address}/api/v1/operations/{operation['id']}/events") as stream:
        harbor.report("operation", {**operation, "phase": "switch"})
        harbor.report("log", {"operation": operation["id"], "lines": ["up"]})
        harbor.report("operation", {**operation, "state": "succeeded"})
        assert [one["event"] for one in stream] == ["started", "progress", "log", "end"]


def test_one_stream_too_many_is_refused(parts: Parts, settings, client, harbor: Runner):
    """Past events.max_clients a stream is 503 with Retry-After; everything else goes on."""
    broker = Broker(_Nothing(), 1)
    broker.subscribe(lambda _: True)
    app = create_app(_with(parts, broker))
    answer = app.test_client().get("/api/v1/events", headers={"Authorization": "Bearer viewer"})
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert app.test_client().get("/healthz").status_code == 200
    assert harbor.beat().status_code == 200


def test_a_place_is_free_again_when_a_client_has_gone(parts: Parts):
    """Leaving gives the place back, also when nothing was ever read."""
    broker = Broker(_Nothing(), 1)
    for _ in range(3):
        client, _ = broker.subscribe(lambda _: True)
        client.leave()
    assert broker.clients == 0


def test_a_slow_client_is_told_to_read_again():
    """Past its bound a queue is emptied, and the client hears `resync` instead of a gap."""
    broker = Broker(_Nothing(), 1)
    client, _ = broker.subscribe(lambda _: True)
    for number in range(QUEUE + 1):
        client.offer(Message("site", {}, number))
    first, second = client.take(0), client.take(0)
    assert first is not None
    assert first.event == "resync"
    assert second is not None
    assert second.id == QUEUE


def test_everything_arrives_once_while_streams_come_and_go(address, parts: Parts):
    """Events stored while a stream opens are neither lost nor doubled."""
    total = 60

    def write() -> None:
        for number in range(total):
            with parts.store.write() as session:
                data = {"number": number}
                events.append(session, EventKind.SITE, data, None, None, parts.clock())

    writer = threading.Thread(target=write)
    writer.start()
    found: list[int] = []
    last = "0"
    while len(found) < total:
        with _stream(f"{address}/api/v1/events?last_event_id={last}") as stream:
            for one in stream:
                found.append(one["data"]["number"])
                last = one["id"]
                if len(found) % 7 == 0 or len(found) == total:
                    break
    writer.join()
    assert found == list(range(total))


class _Nothing:
    """A log without events."""

    def newest_id(self) -> int:
        return 0

    def oldest_id(self) -> int:
        return 0

    def since(self, after: int, limit: int) -> list[Message]:
        return []

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


def _with(parts: Parts, broker: Broker) -> Parts:
    from dataclasses import replace

    return replace(parts, broker=broker)
