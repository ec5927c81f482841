"""What the controller's tests share: a clock, a runner, an API with a token, rows as from Git."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from controller.access.identity import Identity
from controller.access.identity import Role as Rank
from controller.access.passwords import token_hash
from controller.parts import Parts
from controller.store import access, aggregate, models
from controller.store.models import Deployment, Site
from margrave.lifecycle import Outcome, State

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ADMIN = Identity("admin", Rank.ADMIN)
PASSWORD = "correct horse battery"
REVISION = {name: f"sha256:{name * 64}" for name in "abc"}
COMMIT = "c" * 40


@dataclass
class Clock:
    """A clock that the test moves."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Runner:
    """A site's runner as the controller sees it: it numbers its events."""

    client: FlaskClient
    site: str
    clock: Clock
    runner: str = field(default_factory=lambda: str(uuid.uuid4()))
    epoch: int = 1
    seq: int = 0

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer runner-{self.site}"}

    def event(self, kind: str, data: Any) -> dict[str, Any]:
        self.seq += 1
        return {"seq": self.seq, "at": self.clock().isoformat(), "kind": kind, "data": data}

    def send(self, *events: dict[str, Any], first: int | None = None) -> TestResponse:
        body = {
            "protocol": 1,
            "runner": self.runner,
            "epoch": self.epoch,
            "first_seq": first or (events[0]["seq"] if events else self.seq + 1),
            "events": list(events),
        }
        path = f"/api/v1/sites/{self.site}/reports"
        return self.client.post(path, json=body, headers=self._headers())

    def report(self, kind: str, data: Any) -> TestResponse:
        return self.send(self.event(kind, data))

    def beat(self, *nodes: str, **more: Any) -> TestResponse:
        at = self.clock().isoformat()
        body = {
            "protocol": 1,
            "runner": self.runner,
            "epoch": self.epoch,
            "at": at,
            "nodes": [{"name": name, "status": "active", "last_seen": at} for name in nodes],
            **more,
        }
        path = f"/api/v1/sites/{self.site}/heartbeat"
        return self.client.post(path, json=body, headers=self._headers())

    def snapshot(self, *nodes: str, placements: tuple[Any, ...] = ()) -> TestResponse:
        known = [{"name": name, "address": "10.0.0.1", "status": "active"} for name in nodes]
        return self.report("snapshot", {"placements": placements, "nodes": known, "site": {}})


class Api:
    """The API with a token; the roles' names are their tokens."""

    def __init__(self, client: FlaskClient, token: str) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}

    def __getattr__(self, method: str) -> Any:
        def call(path: str, **more: Any) -> TestResponse:
            headers = {**self._headers, **more.pop("headers", {})}
            whole = path if path.startswith("/metrics") else f"/api/v1{path}"
            return getattr(self._client, method)(whole, headers=headers, **more)

        return call


def add_site(parts: Parts, name: str) -> None:
    """A site as if Git had told of it, with the token runner-<name>."""
    with parts.store.write() as session:
        session.add(Site(name=name, created_at=parts.clock()))
        session.flush()
        token = {
            "id": str(uuid.uuid4()),
            "site": name,
            "digest": token_hash(f"runner-{name}"),
            "created_by": "test",
            "created_at": parts.clock(),
        }
        access.add_site_token(session, token)


def add_deployment(parts: Parts, site: str, name: str = "storefront", **more: Any) -> str:
    """A deployment as if Git had told of it; its id."""
    values = {
        "id": str(uuid.uuid4()),
        "site": site,
        "name": name,
        "app": "com-example-storefront",
        "version": "1.0.0",
        "profile": "compose",
        "in_git": True,
        "revision": REVISION["a"],
        "document_digest": REVISION["b"],
        "document": f"metadata: {{name: {name}}}\n",
        "parameters": {"greeting": "hello"},
        "commit": COMMIT,
        "author": "ada",
        "state": State.PENDING,
        "outcome": Outcome.PENDING,
        "created_at": parts.clock(),
        "updated_at": parts.clock(),
        **more,
    }
    with parts.store.write() as session:
        row = Deployment(**values)
        session.add(row)
        session.flush()
        aggregate.settle(session, row.key, parts.clock())
    return str(values["id"])


def placed(
    deployment: str, node: str, to: str | None, frm: str | None = None, **more: Any
) -> dict[str, Any]:
    """The data of a placement event."""
    return {
        "deployment": deployment,
        "node": node,
        "incarnation": 1,
        "state": more.pop("state", to),
        "outcome": "pending",
        "revision": None,
        "version": None,
        "wanted_revision": REVISION["a"],
        "wanted_version": "1.0.0",
        "attempt": 1,
        "reason": "as the test says",
        "from": frm,
        "to": to,
        "actor": "runner",
        **more,
    }


def rows_of(parts: Parts) -> dict[str, int]:
    """How many rows each table has; the audit may tell of refusals."""
    kept = [getattr(models, name) for name in models.__all__ if name != "AuditEntry"]
    with parts.store.session() as session:
        return {
            kind.__tablename__: session.scalar(select(func.count()).select_from(kind)) or 0
            for kind in kept
        }


def clear(answer: TestResponse, *statuses: int) -> dict[str, Any]:
    """A problem with one of the statuses, and a cure for whoever reads it."""
    assert answer.status_code in statuses, answer.text
    assert answer.content_type == "application/problem+json"
    body: dict[str, Any] = json.loads(answer.data)
    assert body["status"] == answer.status_code
    assert body["detail"] and body["cure"] and body["request_id"]
    assert all(found["detail"] and found["cure"] for found in body["errors"]), body
    return body
