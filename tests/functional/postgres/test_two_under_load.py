"""Two controllers that both take reports and requests, while streams of both are read."""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from sqlalchemy import func, select

from controller.store import Store, events
from controller.store.models import History
from tests.functional.controller.kit import NOON, placed
from tests.functional.postgres.pair import OPERATOR, SITES, Pair, runner
from tests.support.waiting import eventually

BATCHES = 20  # that each runner sends, with a transition at each of its nodes
NODES = 3
REQUESTS = 8  # that each controller is asked for


@dataclass
class Stream:
    """What a client of one controller is told: id, event and data, in the order of arrival."""

    url: str
    told: list[tuple[int, str, Any]] = field(default_factory=list)

    def read(self, opened: threading.Event, ended: threading.Event) -> None:
        """Until told to stop."""
        where = f"{self.url}/api/v1/events"
        with (
            suppress(httpx.TransportError),
            httpx.stream("GET", where, headers=OPERATOR, timeout=30) as stream,
        ):
            event: dict[str, str] = {}
            for line in stream.iter_lines():
                opened.set()
                if ended.is_set():
                    return
                name, _, value = line.partition(": ")
                if name in ("id", "event", "data"):
                    event[name] = value
                elif not line and "id" in event:
                    self.told.append((int(event["id"]), event["event"], json.loads(event["data"])))
                    event = {}

    @property
    def ids(self) -> list[int]:
        return [number for number, _, _ in self.told]


@contextmanager
def listening(pair: Pair) -> Iterator[list[Stream]]:
    """A client at each controller, from when it hears on."""
    streams = [Stream(url) for url in pair.urls]
    ended = threading.Event()
    threads = []
    for one in streams:
        opened = threading.Event()
        threads.append(threading.Thread(target=one.read, args=(opened, ended), daemon=True))
        threads[-1].start()
        assert opened.wait(30)
    yield streams
    ended.set()


def reported(pair: Pair, site: str, failures: list[str]) -> None:
    """A runner's reports, each batch to the controller whose turn it is, and once more to the
    other one: an answer may have been lost."""
    told = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1}
    way = [None, "PENDING", "INSTALLING", *(["INSTALLED", "UPDATING"] * BATCHES)]
    for batch in range(BATCHES):
        first = batch * NODES + 1
        listed = [
            {"seq": first + node, "at": NOON.isoformat(), "kind": "placement",
             "data": placed(SITES[site], f"node-{node}", way[batch + 1], way[batch])}
            for node in range(NODES)
        ]  # fmt: skip
        for which in (batch % 2, 1 - batch % 2):
            path = f"{pair.urls[which]}/api/v1/sites/{site}/reports"
            body = {**told, "first_seq": first, "events": listed}
            answer = httpx.post(path, json=body, headers=runner(site), timeout=30)
            if answer.json() != {"ack": first + NODES - 1}:
                failures.append(answer.text)


def test_under_load_nothing_is_lost_or_doubled(pair: Pair) -> None:
    """Both take reports and requests at once: each request is one commit, each transition one row
    and one event, and a client of either is told all of it once, in the same order."""
    asked: list[str] = []
    failures: list[str] = []

    def ask(which: int) -> None:
        asked.extend(pair.create(which, f"shop-{which}-{one}") for one in range(REQUESTS))

    with listening(pair) as streams:
        threads = [threading.Thread(target=ask, args=(which,)) for which in (0, 1)]
        threads += [
            threading.Thread(target=reported, args=(pair, site, failures)) for site in SITES
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(asked) == 2 * REQUESTS
        eventually(lambda: pair.published(asked), 90, "not all are published", pause=0.5)
        store = Store(pair.database)
        with store.session() as session:
            stored = [one["id"] for one in events.since(session, 0, 100_000)]
            rows = session.scalar(select(func.count()).select_from(History))
        store.close()
        newest = stored[-1]
        for one in streams:
            eventually(lambda one=one: one.ids and one.ids[-1] >= newest, 60, "not all was told")
    sent = len(SITES) * BATCHES * NODES
    assert rows == sent
    assert sorted(pair.commits()) == sorted(asked)
    first, second = ([one for one in stream.told if one[0] <= newest] for stream in streams)
    assert first == second
    told = [number for number, _, _ in first]
    assert told == [number for number in stored if number >= told[0]]
    placements = Counter(
        (data["deployment"], data["node"]) for _, event, data in first if event == "placement"
    )
    assert set(placements.values()) == {BATCHES}
    assert len(placements) == len(SITES) * NODES
    ended = Counter(
        data["id"] for _, event, data in first
        if event == "request" and data["state"] == "published"
    )  # fmt: skip
    assert ended == Counter(asked)
