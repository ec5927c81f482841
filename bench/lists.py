"""P7: a page of the list of deployments with 100,000 of them, beside the same SQL by hand.

Asked for over HTTP's door (token, JSON, freshness of each): the first page, a page in the middle,
by each filter and by some together, and a search: for what is common, for one name, and for what
nobody has. SQLite, and a PostgreSQL with its own defaults.
"""

from __future__ import annotations

import statistics
import sys
import time
import uuid
from typing import Any

from sqlalchemy import create_engine, insert, text

from bench.figures import keep
from bench.reports import controller
from controller.access.passwords import token_hash
from controller.app import create_app
from controller.parts import Parts
from controller.serve import settle_memory
from controller.store import access
from controller.store.columns import table
from controller.store.models import Deployment, Placement
from controller.store.words import Role
from margrave.lifecycle import Outcome, State
from tests.functional.controller.kit import COMMIT, NOON, REVISION, add_site
from tests.support.postgres import Postgres

SITES = 100
RUNS = 60
BARS = {"milliseconds": 100, "bytes": 30 * 1024}
PATHS = {
    "first page": "/deployments",
    "in the middle": "/deployments?cursor={middle}",
    "of a site": "/deployments?site=site-7",
    "of an app": "/deployments?app=com-example-storefront",
    "by name": "/deployments?name=shop-00042-x",
    "in a state": "/deployments?state=INSTALLED",
    "failed": "/deployments?outcome=failed",
    "failed of an app": "/deployments?app=com-example-storefront&outcome=failed",
    "failed at a site": "/deployments?site=site-7&outcome=failed",
    "deleted, none": "/deployments?state=DELETED",
    "updated last": "/deployments?sort=updated",
    "search, common": "/deployments?q=shop",
    "search, one": "/deployments?q=shop-00042-",
    "search, none": "/deployments?q=no-such-thing",
    "search, a site": "/deployments?q=site-7",
    "search, two words": "/deployments?q=storefront%20042-x",
    "search, short": "/deployments?q=sh",
    "search, failed": "/deployments?q=shop&outcome=failed",
}
BY_HAND = "SELECT * FROM deployments WHERE state <> 'DELETED' ORDER BY key DESC LIMIT 51"


def fill(parts: Parts, total: int) -> None:
    """Sites and their deployments, each on one node."""
    for number in range(SITES):
        add_site(parts, f"site-{number}")
    with parts.store.write() as session:
        viewer = {"id": "v", "name": "v", "digest": token_hash("viewer"), "role": Role.VIEWER}
        more = {"sites": None, "created_by": "bench", "created_at": NOON}
        access.add_token(session, {**viewer, **more})
        session.flush()
        connection = session.connection()
        for begin in range(0, total, 5000):
            numbers = range(begin + 1, min(begin + 5000, total) + 1)
            connection.execute(insert(table(Deployment)), [_deployment(one) for one in numbers])
            connection.execute(insert(table(Placement)), [_placement(one) for one in numbers])


def _deployment(number: int) -> dict[str, Any]:
    failed = number % 1000 == 0
    return {
        "key": number,
        "id": str(uuid.UUID(int=number)),
        "site": f"site-{number % SITES}",
        "name": f"shop-{number:05d}-x",
        "app": "com-example-storefront",
        "version": "1.0.0",
        "profile": "compose",
        "in_git": True,
        "revision": REVISION["a"],
        "document_digest": REVISION["b"],
        "document": "metadata: {}\n" * 100,
        "parameters": {"greeting": "hello"},
        "extensions": {},
        "needs": {},
        "findings": [],
        "commit": COMMIT,
        "author": "ada",
        "state": State.FAILED if failed else State.INSTALLED,
        "outcome": Outcome.FAILED if failed else Outcome.SUCCEEDED,
        "created_at": NOON,
        "updated_at": NOON,
    }


def _placement(number: int) -> dict[str, Any]:
    return {
        "deployment": number,
        "node": "node-1",
        "incarnation": 1,
        "state": State.INSTALLED,
        "outcome": Outcome.SUCCEEDED,
        "attempt": 1,
        "health": "healthy",
        "drift": [],
        "components": [],
        "since": NOON,
        "updated_at": NOON,
    }


def spread(milliseconds: list[float]) -> dict[str, float]:
    """Median and p99."""
    ordered = sorted(milliseconds)
    return {
        "median": round(statistics.median(ordered), 1),
        "p99": round(ordered[int(len(ordered) * 0.99)], 1),
    }


def timed(parts: Parts, path: str) -> dict[str, Any]:
    """How long an answer takes, and how big it is."""
    client = create_app(parts).test_client()
    headers = {"Authorization": "Bearer viewer"}
    times, size = [], 0
    for _ in range(RUNS):
        begun = time.perf_counter()
        answer = client.get(f"/api/v1{path}", headers=headers)
        times.append((time.perf_counter() - begun) * 1000)
        assert answer.status_code == 200, answer.text
        size = len(answer.data)
    return {**spread(times), "bytes": size}


def measure(url: str | None, total: int) -> dict[str, Any]:
    """Every list on one database."""
    from controller.api.paging import cursor

    with controller(url) as parts:
        fill(parts, total)
        engine = create_engine(parts.store.url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
            times = []
            for _ in range(RUNS):
                begun = time.perf_counter()
                connection.execute(text(BY_HAND)).fetchall()
                times.append((time.perf_counter() - begun) * 1000)
        engine.dispose()
        settle_memory()  # as it is served
        middle = cursor([total // 2])
        lists = {name: timed(parts, path.format(middle=middle)) for name, path in PATHS.items()}
    return {"by hand, first page": spread(times), **lists}


def main() -> None:
    """Measure and keep."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    server = Postgres(fsync="on", synchronous_commit="on", full_page_writes="on").start()
    try:
        figures = {"sqlite": measure(None, total), "postgresql": measure(server.create(), total)}
    finally:
        server.stop()
    keep("lists", {"deployments": total, "bars": BARS, **figures})


if __name__ == "__main__":
    main()
