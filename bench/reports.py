"""P6: how fast reports are taken in, beside a bare bulk insert of the rows that they leave behind.

A site of 200 placements reports installs and updates in batches of 500, as its runner sends them
after an outage; each batch is answered before the next one comes. Beside it a program without any
product in it writes the same rows of history and events with SQLAlchemy's bulk insert, a
transaction for as many. Both on SQLite with every commit on the disk, and on a PostgreSQL with
its own defaults. `door` counts the whole request: token, JSON, checks; `intake` what comes behind.
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

from sqlalchemy import create_engine, event, insert, select

from bench.figures import keep
from controller.app import assemble, create_app
from controller.reports.messages import Batch
from controller.settings import ControllerSettings
from controller.store.columns import table
from controller.store.models import Event, History
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
    begun = time.perf_counter()
    for body in batches(ids):
        answer = client.post("/api/v1/sites/harbor/reports", data=body, headers=headers)
        assert answer.status_code == 200, answer.text
    door = time.perf_counter() - begun
    bodies = [Batch.model_validate_json(body) for body in batches(ids)]
    begun = time.perf_counter()
    for batch in bodies:
        parts.intake.take("harbor", batch)
    return {"door": rate(door), "intake": rate(time.perf_counter() - begun)}


def bare(engine: Engine, parts: Parts) -> float:
    """The same rows, written by nobody in particular."""
    with parts.store.session() as session:
        rows = {
            kind: [
                {name: value for name, value in row._mapping.items() if name != "id"}
                for row in session.execute(select(table(kind)).limit(BATCH * BATCHES))
            ]
            for kind in (History, Event)
        }
    begun = time.perf_counter()
    for begin in range(0, BATCH * BATCHES, BATCH):
        with engine.begin() as connection:
            for kind in (History, Event):
                connection.execute(insert(table(kind)), rows[kind][begin : begin + BATCH])
    seconds = time.perf_counter() - begun
    engine.dispose()
    return rate(seconds)


def measure(name: str, url: str | None, engine_of: Callable[[Parts], Engine]) -> dict[str, Any]:
    """Ours and the bare one on one database, in turns; the best of three."""
    runs = []
    for _ in range(3):
        with controller(url) as parts:
            ours = taken(parts)
            runs.append({**ours, "bare": bare(engine_of(parts), parts)})
            if url is not None:
                from tests.support.postgres import empty

                empty(url)
    best = {key: max(run[key] for run in runs) for key in runs[0]}
    return {
        **best,
        "ratio": round(best["door"] / best["bare"], 2),
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
