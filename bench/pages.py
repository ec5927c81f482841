"""Pages with 10,000 deployments at 1,000 sites: how soon each is there and how big it is.

The bar is 150 ms and 30 KB a page. The whole page is made before its first byte is sent, so the
time of a request is that of the first byte (`cpu` is what of it is work: the rest is waiting for a
busy machine); beside it stands the list's SQL by hand, on SQLite.
"""

from __future__ import annotations

import sys
import time
import uuid
from typing import Any

from sqlalchemy import create_engine, insert, text

from bench import lists
from bench.figures import keep
from bench.lists import BY_HAND, spread
from bench.reports import controller
from controller.app import create_app
from controller.pages import compiled
from controller.parts import Parts
from controller.serve import settle_memory
from controller.store.columns import table
from controller.store.models import History, Node, Operation
from controller.store.words import OperationState
from margrave.lifecycle import Kind, State
from tests.functional.controller.kit import NOON, REVISION

SITES = 1000
RUNS = 30
BARS = {"milliseconds": 150, "bytes": 30 * 1024}
ONE = "00000000-0000-0000-0000-000000000008"
PATHS = {
    "overview": "/",
    "deployments": "/deployments",
    "by name": "/deployments?sort=name",
    "changed last": "/deployments?sort=updated",
    "what failed": "/deployments?outcome=failed",
    "not as wanted": "/deployments?outcome=failed,rollback-failed,rolled-back,held",
    "search": "/deployments?q=shop-00042-",
    "one deployment": f"/deployments/{ONE}",
    "its history": f"/deployments/{ONE}/history",
    "its nodes": f"/deployments/{ONE}/placements",
    "sites": "/sites",
    "silent sites": "/sites?freshness=unknown",
    "held sites": "/sites?held=any",
    "sites by words": "/sites?q=site-77",
    "one site": "/sites/site-7",
    "nodes": "/nodes",
    "offline nodes": "/nodes?status=offline",
    "nodes by words": "/nodes?q=site-77",
    "one node": "/sites/site-7/nodes/node-1",
    "activity": "/activity",
    "requests": "/requests",
    "requests that failed": "/requests?state=failed,refused",
    "applications": "/apps",
    "sources": "/sources",
    "git": "/repository",
}
STEPS = 1_200  # transitions of the one whose page is shown: more than a page has room for


def _history(parts: Parts, total: int) -> None:
    """Nodes, and for each deployment an operation with its transitions."""
    nodes = [
        {"site": f"site-{one % SITES}", "name": f"node-{one // SITES}", "drain": False,
         "status": "active", "labels": {}, "capabilities": {"cpus": 4}, "registered_at": NOON}
        for one in range(SITES * 10)
    ]  # fmt: skip
    operations = [
        {"number": one, "id": f"operation-{one}", "deployment": one, "site": f"site-{one % SITES}",
         "node": "node-1", "kind": Kind.INSTALL, "state": OperationState.SUCCEEDED, "attempt": 1,
         "started_at": NOON, "ended_at": NOON, "updated_at": NOON}
        for one in range(1, total + 1)
    ]  # fmt: skip
    steps = ((None, State.PENDING), (State.PENDING, State.INSTALLING),
             (State.INSTALLING, State.INSTALLED))  # fmt: skip
    history = [
        {"deployment": one, "node": "node-1", "incarnation": 1, "at": NOON, "from_state": before,
         "to_state": after, "actor": "runner", "reason": "as wanted", "attempt": 1,
         "revision": REVISION["a"], "version": "1.0.0", "irregular": False}
        for one in range(1, total + 1) for before, after in steps
    ]  # fmt: skip
    last = next(row for row in history if row["deployment"] == uuid.UUID(ONE).int)
    history += [{**last, "reason": f"step {one}"} for one in range(STEPS)]
    with parts.store.write() as session:
        for kind, rows in ((Node, nodes), (Operation, operations), (History, history)):
            session.connection().execute(insert(table(kind)), rows)


def timed(parts: Parts, path: str) -> dict[str, Any]:
    """How long a page takes, and how big it is."""
    client = compiled(create_app(parts)).test_client()  # as it is served
    headers = {"Authorization": "Bearer viewer", "Accept": "text/html"}
    times, size = [], 0
    worked = time.process_time()
    for _ in range(RUNS):
        begun = time.perf_counter()
        answer = client.get(path, headers=headers)
        times.append((time.perf_counter() - begun) * 1000)
        assert answer.status_code == 200, answer.text
        size = len(answer.data)
    worked = (time.process_time() - worked) / RUNS * 1000
    return {**spread(times), "cpu": round(worked, 1), "bytes": size}


def main() -> None:
    """Measure and keep."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    lists.SITES = SITES
    with controller(None) as parts:
        lists.fill(parts, total)
        _history(parts, total)
        engine = create_engine(parts.store.url)
        by_hand = []
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
            for _ in range(RUNS):
                begun = time.perf_counter()
                connection.execute(text(BY_HAND)).fetchall()
                by_hand.append((time.perf_counter() - begun) * 1000)
        engine.dispose()
        settle_memory()
        pages = {name: timed(parts, path) for name, path in PATHS.items()}
    keep("pages", {"deployments": total, "bars": BARS, "list by hand": spread(by_hand), **pages})


if __name__ == "__main__":
    main()
