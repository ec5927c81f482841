"""A database as a release left it, with rows in every table: written at a release, read by tests.

`python -m tests.support.frozen` writes those of the present schema below RELEASED, one for each
database. They are never written again: each is what some controller out there has.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import uuid
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, func, select

from controller.access.passwords import token_hash
from controller.app import assemble, create_app
from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import access, schema
from controller.store.columns import Base
from controller.store.words import Role
from tests.functional.controller.kit import PASSWORD, Api, Clock, Runner, placed
from tests.support import packages, postgres
from tests.support.registry import FakeRegistry

RELEASED = Path(__file__).parents[1] / "functional/controller/released"
PLACE = Path("/tmp/released")  # where the dumps say that everything lay
OPERATION = "0e000000-0000-4000-8000-000000000001"
FAILED = {
    "class": "registry", "code": "away", "message": "it does not answer", "cure": "look at it",
}  # fmt: skip


def main() -> None:
    """Write both."""
    RELEASED.mkdir(exist_ok=True)
    with postgres.server() as server:
        for name, url in (("sqlite", None), ("postgresql", server.create())):
            file = RELEASED / f"{schema.NEWEST}-{name}.sql"
            if file.exists():
                sys.exit(f"{file}: is there already, and stays as it is")
            PLACE.mkdir()
            try:
                settings = _settings(PLACE, url)
                _fill(settings, PLACE)
                kept = settings.state.dir / "margrave.db"
                file.write_text(_sqlite(kept) if url is None else server.dump(url))
            finally:
                shutil.rmtree(PLACE)


def load(name: str, url: str, server: postgres.Postgres | None = None) -> None:
    """Bring a dump into an empty database."""
    text = (RELEASED / name).read_text()
    if server is not None:
        server.load(text, url)
        return
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.executescript(text)
    connection.close()


def _settings(folder: Path, url: str | None) -> ControllerSettings:
    known = {"host": "registry.margrave.lab:5000", "insecure": True}
    return ControllerSettings.model_validate(
        {
            "state": {"dir": folder / "state"},
            "database": {"url": url},
            "catalog": {"local_roots": [folder]},
            "registries": [known],
        }
    )


def _fill(settings: ControllerSettings, folder: Path) -> None:
    """Through the API, as people and a runner would, at a time that stands still."""
    registry = FakeRegistry().start()
    known = [settings.registries[0].model_copy(update={"address": registry.address})]
    parts = assemble(settings.model_copy(update={"registries": tuple(known)}), Clock())
    parts.store.migrate()
    parts.repository.prepare()
    for version in ("1.0.0", "1.1.0"):
        packages.write(folder / "apps", version=version)
    _live(parts, folder)
    parts.store.close()
    registry.stop()
    engine = create_engine(settings.database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        bare = [
            table.name
            for table in Base.metadata.sorted_tables
            if not connection.scalar(select(func.count()).select_from(table))
        ]
    engine.dispose()
    assert bare == [], f"a release's tables all have rows: {bare}"


def _live(parts: Parts, folder: Path) -> None:
    with parts.store.write() as session:
        first = {
            "id": str(uuid.uuid4()), "name": "first", "digest": token_hash("admin"),
            "role": Role.ADMIN, "sites": None, "created_by": "init", "created_at": parts.clock(),
        }  # fmt: skip
        access.add_token(session, first)
    client = create_app(parts).test_client()
    admin = Api(client, "admin")

    def post(path: str, body: Any = None, **more: Any) -> Any:
        answer = admin.post(path, json=body or {}, **more)
        assert answer.status_code < 300, answer.text
        return answer.json

    post("/users", {"name": "ada", "password": PASSWORD, "role": "operator", "sites": None})
    signed_in(client)
    post("/app-sources", {"name": "own", "url": str(folder / "apps")})
    post("/app-sources/own/sync")
    post("/sites", {"name": "harbor", "labels": {"zone": "shop"}})
    with parts.store.write() as session:
        own = {"id": str(uuid.uuid4()), "site": "harbor", "digest": token_hash("runner-harbor")}
        own |= {"created_by": "admin", "created_at": parts.clock()}
        access.add_site_token(session, own)
    runner = Runner(client, "harbor", parts.clock)
    runner.snapshot("harbor-1")
    runner.beat("harbor-1")
    asked = {"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
    made = post("/deployments", asked, headers={"Idempotency-Key": "once"})
    parts.publisher.publish_all()
    deployment = made["deployments"][0]["id"]
    _told(runner, deployment)
    post(f"/deployments/{deployment}/retry")
    parts.publisher.publish_all()
    post("/deployments", {**asked, "name": "waiting", "priority": "bulk"})


def signed_in(client: Any) -> None:
    """A session of ada's, by the form."""
    page = client.get("/sign-in").text
    form = page.partition('name="token" value="')[2].partition('"')[0]
    sent = {"user": "ada", "password": PASSWORD, "token": form}
    assert client.post("/sign-in", data=sent).status_code == 303


def _told(runner: Runner, deployment: str) -> None:
    """An install that ran, an update that waits for the registry, and something unreadable."""
    about = {"id": OPERATION, "deployment": deployment, "node": "harbor-1", "kind": "install"}
    there = {"operation": OPERATION, "actor": "node", "outcome": "succeeded"}
    steps = [
        ("placement", placed(deployment, "harbor-1", "PENDING")),
        ("placement", placed(deployment, "harbor-1", "INSTALLING", "PENDING")),
        ("operation", {**about, "state": "running", "fence": {"epoch": 1, "seq": 1}}),
        ("log", {"operation": OPERATION, "lines": ["prefetch", "healthy"]}),
        ("operation", {**about, "state": "waiting", "error": FAILED, "phase": "prefetch"}),
        ("placement", placed(deployment, "harbor-1", "INSTALLED", "INSTALLING", **there)),
        ("site", {"locked": False, "halted": None, "applied_commit": "c" * 40}),
        ("placement", {"unreadable": True}),
    ]
    answer = runner.send(*(runner.event(kind, data) for kind, data in steps))
    assert answer.status_code == 200, answer.text


def _sqlite(path: Path) -> str:
    """As `sqlite3 FILE .dump` does, without what an index of trigrams keeps for itself."""
    connection = sqlite3.connect(path)
    made = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND name NOT LIKE 'deployment_search_%' OR type = 'trigger' ORDER BY rowid"
    ).fetchall()
    tables = [name for kind, name, sql in made if kind == "table" and "VIRTUAL" not in sql]
    lines = ["PRAGMA auto_vacuum=INCREMENTAL;", "BEGIN;"]
    lines += [f"{sql};" for kind, _, sql in made if kind == "table" and "VIRTUAL" not in sql]
    for table in tables:
        columns = ", ".join(f'"{row[1]}"' for row in connection.execute(_columns(table)))
        quoted = ", ".join(f'quote("{row[1]}")' for row in connection.execute(_columns(table)))
        for row in connection.execute(f'SELECT {quoted} FROM "{table}"'):
            lines.append(f'INSERT INTO "{table}" ({columns}) VALUES ({", ".join(row)});')
    lines += [f"{sql};" for kind, _, sql in made if "VIRTUAL" in sql]
    lines.append(
        "INSERT INTO deployment_search (rowid, words) SELECT key, search FROM deployments;"
    )
    lines += [f"{sql};" for kind, _, sql in made if kind in ("index", "trigger")]
    connection.close()
    return "\n".join([*lines, "COMMIT;", ""])


def _columns(table: str) -> str:
    return f'PRAGMA table_info("{table}")'  # generated columns are not among them


if __name__ == "__main__":
    main()
