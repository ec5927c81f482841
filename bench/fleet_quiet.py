"""P8: what a fleet costs in which nothing happens: a thousand sites, ten thousand nodes.

A controller as an operator starts it, on SQLite and on a PostgreSQL with its own defaults. Another
process plays the runners over real HTTP, each on a connection of its own that it keeps, as they do:
every site sends its heartbeat with all its nodes each ten seconds, spread over them, and once a
minute a report of a node, which is more than a quiet site has to say; the streams that the
controller lets in are open. Measured is what the controller's processes use of a processor in a
wall second, from /proc, and their memory; of PostgreSQL's own processes it is told beside.
"""

from __future__ import annotations

import http.client
import json
import math
import multiprocessing
import os
import sys
import tempfile
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import insert

from bench.figures import keep
from bench.resting import controller, make, memory, processor
from controller.access.passwords import token_hash
from controller.store import Store
from controller.store.columns import table
from controller.store.models import Node, Site, SiteToken
from tests.support.postgres import Postgres

SITES = 1_000
NODES = 10  # of each site
PERIOD = 10.0  # seconds between two heartbeats of a site
REPORT_EACH = 6  # heartbeats
STREAMS = 64  # as many as the controller lets in by itself
WARM = 30.0  # seconds until it is measured: by then every site has come a few times
MEASURED = 60.0
THREADS = 20
BARS = {"cores": 0.5, "megabytes": 300}
CAPABLE = {"architecture": "amd64", "cpus": 4, "memory": 8 << 30, "engines": ["podman"]}


def fill(url: str) -> None:
    """Sites with tokens and nodes, as Git and their runners told of them long ago."""
    store, now = Store(url), datetime.now(UTC)
    store.migrate()
    names = [f"site-{number}" for number in range(SITES)]
    known = {"labels": {}, "drain": False, "created_at": now}
    site = {**known, "document": {}, "findings": []}
    token = {"created_by": "bench", "created_at": now}
    node = {"labels": {}, "drain": False, "registered_at": now, "status": "active"}
    with store.write() as session:
        connection = session.connection()
        connection.execute(insert(table(Site)), [{**site, "name": name} for name in names])
        connection.execute(
            insert(table(SiteToken)),
            [
                {**token, "id": str(uuid.uuid4()), "site": one, "digest": token_hash(f"run-{one}")}
                for one in names
            ],
        )
        connection.execute(
            insert(table(Node)),
            [
                {**node, "site": one, "name": f"{one}-{number}", "capabilities": CAPABLE}
                for one in names
                for number in range(NODES)
            ],
        )
    store.close()


class Runner:
    """A site's runner that has nothing to do."""

    def __init__(self, number: int, address: tuple[str, int]) -> None:
        self._site = f"site-{number}"
        self._address = address
        self._headers = {
            "Authorization": f"Bearer run-{self._site}",
            "Content-Type": "application/json",
        }
        self._who = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1}
        self._connection = http.client.HTTPConnection(*address, timeout=60)
        self._seq = 1
        self._beats = number % REPORT_EACH
        self.due = time.monotonic() + PERIOD * (number % 997) / 997

    def beat(self) -> list[float]:
        """Its turn: a heartbeat, and a report now and then; the seconds that each took."""
        now = datetime.now(UTC).isoformat()
        nodes = [
            {"name": f"{self._site}-{one}", "status": "active", "last_seen": now}
            for one in range(NODES)
        ]
        took = [self._post("heartbeat", {"at": now, "applied_commit": "c" * 40, "nodes": nodes})]
        self._beats += 1
        if self._seq == 1 or self._beats % REPORT_EACH == 0:
            data = {"name": f"{self._site}-0", "address": "192.0.2.1", "status": "active"}
            event = {"seq": self._seq, "at": now, "kind": "node", "data": data}
            took.append(self._post("reports", {"first_seq": self._seq, "events": [event]}))
            self._seq += 1
        return took

    def _post(self, what: str, body: dict[str, Any]) -> float:
        begun = time.perf_counter()
        path, data = f"/api/v1/sites/{self._site}/{what}", json.dumps({**self._who, **body})
        try:
            self._connection.request("POST", path, data, self._headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was kept for too long
            self._connection.close()
            self._connection.request("POST", path, data, self._headers)
            answer = self._connection.getresponse()
        told = answer.read()
        assert answer.status == 200, (answer.status, told)
        return time.perf_counter() - begun


def play(address: tuple[str, int], until: float, told: Any) -> None:
    """All runners, a part of them on each thread; tells the seconds of each request and how late
    the latest began."""
    took: list[list[float]] = [[] for _ in range(THREADS)]
    late = [0.0] * THREADS

    def work(number: int) -> None:
        mine = [Runner(one, address) for one in range(number, SITES, THREADS)]
        while time.monotonic() < until:
            runner = min(mine, key=lambda one: one.due)
            time.sleep(max(0.0, runner.due - time.monotonic()))
            late[number] = max(late[number], time.monotonic() - runner.due)
            took[number] += runner.beat()
            runner.due += PERIOD

    threads = [threading.Thread(target=work, args=(one,)) for one in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put(([one for some in took for one in some], max(late)))


def listen(base: httpx.URL, number: int, stop: threading.Event) -> None:
    """A site's stream of hints, as long as the measurement lasts."""
    headers = {"Authorization": f"Bearer run-site-{number}"}
    with (
        httpx.Client(base_url=base, timeout=60) as client,
        client.stream("GET", f"/api/v1/sites/site-{number}/stream", headers=headers) as answer,
    ):
        assert answer.status_code == 200, answer.read()
        for _ in answer.iter_raw():
            if stop.is_set():
                return


def server_processor(server: Postgres | None) -> float:
    """Seconds of a processor that PostgreSQL's processes have used."""
    if server is None:
        return 0.0
    return processor(int(Path(server.data, "postmaster.pid").read_text().split()[0]))


def measure(server: Postgres | None) -> dict[str, Any]:
    """The fleet on one database."""
    url = server.create() if server else None
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "c")
        fill(url or f"sqlite:///{folder}/c/state/margrave.db")
        if url:
            os.environ["MARGRAVE_DATABASE__URL"] = url
        with controller(Path(folder) / "c") as (process, client, _):
            figures = _watched(process.pid, client.base_url, server)
        os.environ.pop("MARGRAVE_DATABASE__URL", None)
    return figures


def _watched(pid: int, base: httpx.URL, server: Postgres | None) -> dict[str, Any]:
    address, stop = (base.host, base.port or 80), threading.Event()
    told: Any = multiprocessing.get_context("spawn").Queue()
    until = time.monotonic() + WARM + MEASURED
    streams = [
        threading.Thread(target=listen, args=(base, one, stop), daemon=True)
        for one in range(STREAMS)
    ]
    for thread in streams:
        thread.start()
    runners = multiprocessing.get_context("spawn").Process(target=play, args=(address, until, told))
    runners.start()
    time.sleep(WARM)
    begun, used, beside = time.monotonic(), processor(pid), server_processor(server)
    most = 0.0
    while time.monotonic() < until - 1:
        time.sleep(2)
        most = max(most, memory(pid))
    wall = time.monotonic() - begun
    used, beside = processor(pid) - used, server_processor(server) - beside
    took, late = told.get(timeout=60)
    runners.join()
    stop.set()
    took.sort()
    return {
        "cores": round(used / wall, 3),
        "cores of PostgreSQL": round(beside / wall, 3),
        "megabytes": most,
        "requests": len(took),
        "median in ms": round(took[len(took) // 2] * 1000, 1),
        "p99 in ms": round(took[math.floor(len(took) * 0.99)] * 1000, 1),
        "latest in s": round(late, 2),
    }


def main() -> None:
    """Measure on the database that is named, or on both, and keep."""
    which = sys.argv[1:] or ["sqlite", "postgresql"]
    figures = {}
    if "sqlite" in which:
        figures["sqlite"] = measure(None)
    if "postgresql" in which:
        server = Postgres(fsync="on", synchronous_commit="on", full_page_writes="on").start()
        try:
            figures["postgresql"] = measure(server)
        finally:
            server.stop()
    shape = {"sites": SITES, "nodes": SITES * NODES, "heartbeat": PERIOD, "streams": STREAMS}
    keep("fleet_quiet", {**shape, "bars": BARS, **figures})


if __name__ == "__main__":
    main()
