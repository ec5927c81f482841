"""P6: how fast reports are taken in, beside a bare bulk insert of the rows that are written.

A site of 200 placements reports installs and updates in batches of 500, as its runner sends them
after an outage; each batch is answered before the next one comes. Beside it a program without any
product in it writes the same rows with SQLAlchemy's bulk insert, a transaction for as many: of
each batch its history, its events, and the placements as they then stand (in a table like theirs,
for an insert has no row to overwrite). Both on SQLite with every commit on the disk, and on a
PostgreSQL with its own defaults. `door` counts the whole request: token, JSON, checks; `intake`
what comes behind. CPU is that of this process, in microseconds for an event.
"""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Index, MetaData, Table, create_engine, event, insert, select

from bench.figures import keep
from controller.app import assemble, create_app
from controller.reports.messages import Batch
from controller.serve import settle_memory
from controller.settings import ControllerSettings
from controller.store.columns import table
from controller.store.models import Event, History, Placement
from tests.functional.controller.kit import NOON, REVISION, add_deployment, add_site, placed
from tests.support.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

    from controller.parts import Parts

BATCH = 500
BATCHES = 20
DEPLOYMENTS = 100
NODES = ("harbor-1", "harbor-2")
BARS = {"sqlite": 2_000, "postgresql": 5_000}
STEPS = (
    ("INSTALLED", "UPDATING", "pending"),
    ("UPDATING", "INSTALLED", "succeeded"),
)


def events(ids: list[str], total: int) -> list[dict[str, Any]]:
    """What a runner tells: every placement goes its way, one step after the other."""
    found: list[dict[str, Any]] = []
    more = {"version": "1.0.0", "health": "healthy", "revision": REVISION["a"], "commit": "c" * 40}
    places = [(one, node) for one in ids for node in NODES]
    first = [(place, (None, "PENDING", "pending")) for place in places]
    second = [(place, ("PENDING", "INSTALLING", "pending")) for place in places]
    third = [(place, ("INSTALLING", "INSTALLED", "succeeded")) for place in places]
    way = [*first, *second, *third]
    while len(way) < total:
        way += [(place, step) for step in STEPS for place in places]
    for (deployment, node), (frm, to, outcome) in way[:total]:
        data = placed(deployment, node, to, frm, outcome=outcome, **more)
        data["components"] = [{"name": "storefront", "state": "running", "error": None}]
        data["operation"] = str(uuid.uuid4())
        found.append({"seq": len(found) + 1, "at": NOON.isoformat(), "kind": "placement"})
        found[-1]["data"] = data
    return found


def batches(ids: list[str]) -> list[bytes]:
    """The bodies of requests."""
    told, runner = events(ids, BATCH * BATCHES), str(uuid.uuid4())
    return [
        json.dumps(
            {
                "protocol": 1,
                "runner": runner,
                "epoch": 1,
                "first_seq": told[begin]["seq"],
                "events": told[begin : begin + BATCH],
            }
        ).encode()
        for begin in range(0, len(told), BATCH)
    ]


@contextmanager
def controller(url: str | None) -> Iterator[Parts]:
    """A controller with a site and its deployments."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ControllerSettings.model_validate(
            {"state": {"dir": f"{folder}/state"}, "database": {"url": url}}
        )
        parts = assemble(settings, lambda: datetime.now(UTC))
        parts.store.migrate()
        add_site(parts, "harbor")
        yield parts
        parts.store.close()


def rate(seconds: float) -> float:
    """Events in a second."""
    return round(BATCH * BATCHES / seconds)


def taken(parts: Parts) -> dict[str, float]:
    """Through the door of HTTP, and behind it."""
    ids = [add_deployment(parts, "harbor", f"shop-{one}") for one in range(DEPLOYMENTS)]
    client = create_app(parts).test_client()
    headers = {"Authorization": "Bearer runner-harbor", "Content-Type": "application/json"}
    settle_memory()  # as the server does
    begun, worked = time.perf_counter(), time.process_time()
    for body in batches(ids):
        answer = client.post("/api/v1/sites/harbor/reports", data=body, headers=headers)
        assert answer.status_code == 200, answer.text
    door, cpu = time.perf_counter() - begun, time.process_time() - worked
    bodies = [Batch.model_validate_json(body) for body in batches(ids)]
    begun = time.perf_counter()
    for batch in bodies:
        parts.intake.take("harbor", batch)
    return {
        "door": rate(door),
        "intake": rate(time.perf_counter() - begun),
        "cpu": round(cpu / BATCH / BATCHES * 1e6, 1),
    }


def bare(engine: Engine, parts: Parts) -> dict[str, float]:
    """The same rows, written by nobody in particular."""
    transactions = _written(parts)
    copies = _copies(engine)
    begun, worked = time.perf_counter(), time.process_time()
    for rows in transactions:
        with engine.begin() as connection:
            for name, some in rows.items():
                connection.execute(insert(copies[name]), some)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - worked
    engine.dispose()
    return {"bare": rate(seconds), "bare cpu": round(cpu / BATCH / BATCHES * 1e6, 1)}


def _written(parts: Parts) -> list[dict[str, list[dict[str, Any]]]]:
    """The rows of each batch through the door: those of the first half of all that was stored."""
    with parts.store.session() as session:
        found = {
            kind: [dict(row._mapping) for row in session.execute(select(table(kind)))]
            for kind in (History, Event, Placement)
        }
    each = len(found[Event]) // BATCHES // 2
    placements = found[Placement]
    return [
        {
            "history": _without_id(found[History][one * BATCH : (one + 1) * BATCH]),
            "events": _without_id(found[Event][one * each : (one + 1) * each]),
            "placements": [{**row, "incarnation": one + 1} for row in placements],
        }
        for one in range(BATCHES)
    ]


def _without_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "id"} for row in rows]


def _copies(engine: Engine) -> dict[str, Table]:
    """Empty tables like the product's, with their indexes and without links to other tables."""
    metadata = MetaData()
    copies = {}
    for kind in (History, Event, Placement):
        columns = [
            Column(one.name, one.type, primary_key=one.primary_key, nullable=one.nullable)
            for one in table(kind).columns
        ]
        name = f"bare_{kind.__tablename__}"
        copies[kind.__tablename__] = Table(name, metadata, *columns)
        for index in table(kind).indexes:
            Index(
                f"bare_{index.name}", *(copies[kind.__tablename__].c[c.name] for c in index.columns)
            )
    metadata.drop_all(engine)
    metadata.create_all(engine)
    return copies


def measure(name: str, url: str | None, engine_of: Callable[[Parts], Engine]) -> dict[str, Any]:
    """Ours and the bare one on one database, in turns; the best of three."""
    runs = []
    for _ in range(3):
        with controller(url) as parts:
            ours = taken(parts)
            runs.append({**ours, **bare(engine_of(parts), parts)})
            if url is not None:
                from tests.support.postgres import empty

                empty(url)
    best = {key: (min if "cpu" in key else max)(run[key] for run in runs) for key in runs[0]}
    return {
        **best,
        "ratio": round(best["door"] / best["bare"], 2),
        "ratio of each run": [round(run["door"] / run["bare"], 2) for run in runs],
        "bars": {"door": BARS[name], "ratio": 0.5},
        "runs": runs,
    }


def _file(parts: Parts) -> Engine:
    engine = create_engine(parts.store.url)

    def prepare(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous=FULL")

    event.listen(engine, "connect", prepare)
    return engine


def main() -> None:
    """Measure and keep."""
    server = Postgres(fsync="on", synchronous_commit="on", full_page_writes="on").start()
    try:
        url = server.create()
        figures = {
            "sqlite": measure("sqlite", None, _file),
            "postgresql": measure(
                "postgresql",
                url,
                lambda _: create_engine(url.replace("://", "+psycopg://")),
            ),
        }
    finally:
        server.stop()
    keep("reports", {"batch": BATCH, "events": BATCH * BATCHES, "fsync": "on", **figures})


if __name__ == "__main__":
    assert Path("pyproject.toml").is_file(), "run it in the checkout"
    main()
