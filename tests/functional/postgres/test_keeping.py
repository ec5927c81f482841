"""Backup, restore and rebuild of a controller whose database is a PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from controller.access.passwords import token_hash
from controller.keeping.backup import backup
from controller.keeping.rebuild import rebuild
from controller.keeping.restore import restore
from controller.reports.intake import Intake
from controller.reports.messages import Batch
from controller.store import Store, access, audit, deployments, fleet
from controller.store.audit import Deed
from controller.store.freshness import Moment
from controller.store.words import Role
from margrave.errors import Refused
from tests.functional.controller.kit import NOON, placed
from tests.support import postgres
from tests.support.registry import FakeRegistry
from tests.support.works import Works


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Postgres]:
    with postgres.server() as found:
        yield found


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


def on(folder: Path, registry: FakeRegistry, url: str | None) -> Works:
    more = {"database": {"url": url}, "http": {"bind": "127.0.0.1:1"}}
    return Works(folder, registry, **more)


def filled(works: Works) -> tuple[str, str]:
    """A deployment that runs, a person's token and an audited deed; its id and revision."""
    works.with_apps("harbor")
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    with works.store.write() as session:
        token = {"created_by": "test", "created_at": NOON}
        person = {"id": str(uuid.uuid4()), "name": "o", "role": Role.OPERATOR, "sites": None}
        access.add_token(session, {**token, **person, "digest": token_hash("operator")})
        own = {"id": str(uuid.uuid4()), "site": "harbor", "digest": token_hash("runner-harbor")}
        access.add_site_token(session, {**token, **own})
        audit.add(session, Deed("ada", "token.create", "o", "done"), NOON)
    return one["id"], shown(works, one["id"])["revision"]


def shown(works: Works, deployment: str) -> dict[str, str]:
    with works.store.session() as session:
        key = deployments.find(session, deployment)
        assert key is not None
        found: dict[str, str] = deployments.resource(session, key.key, Moment(NOON))
    return found


def report(works: Works, deployment: str, revision: str) -> None:
    """The snapshot of the site's runner: the deployment runs there."""
    data = placed(deployment, "harbor-1", None, state="INSTALLED", outcome="succeeded")
    data |= {"revision": revision, "version": "1.0.0", "wanted_revision": revision}
    node = {"name": "harbor-1", "address": "10.0.0.1", "status": "active"}
    snapshot = {"placements": [data], "nodes": [node], "site": {}}
    event = {"seq": 1, "at": NOON.isoformat(), "kind": "snapshot", "data": snapshot}
    told = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1, "first_seq": 1}
    intake = Intake(works.store, works.clock, timedelta(seconds=10))
    intake.take("harbor", Batch.model_validate({**told, "events": [event]}))


def known(works: Works) -> tuple[bool, bool, int | None]:
    """Whether both tokens still hold, and where the audit's chain is broken."""
    with works.store.session() as session:
        tokens = [
            access.token(session, token_hash(one), NOON) for one in ("operator", "runner-harbor")
        ]
        return tokens[0] is not None, tokens[1] is not None, audit.verified(session)["broken_at"]


def test_from_one_database_to_the_other_and_back(
    tmp_path: Path, registry: FakeRegistry, server: postgres.Postgres
) -> None:
    """A backup of SQLite is restored into PostgreSQL, which goes on numbering and publishing; its
    own backup, made while it works, is restored into SQLite: nothing is lost on the way."""
    small = on(tmp_path / "small", registry, None)
    deployment, revision = filled(small)
    backup(small.settings, tmp_path / "first")
    small.store.close()
    url = server.create()
    large = on(tmp_path / "large", registry, url)
    large.store.close()
    done = restore(large.settings, tmp_path / "first")
    assert done["must_accept"] == []
    large.start()
    assert known(large) == (True, True, None)
    large.act("update", deployment, parameters={"greeting": "moin"})
    large.publisher.publish_all()
    assert b"value: moin\n" in large.document({"site": "harbor", "id": deployment})
    large.create("harbor", name="second")
    backup(large.settings, tmp_path / "second")
    large.publisher.publish_all()
    with large.store.write() as session:
        fleet.tell_site(session, "harbor", {"applied_commit": large.repository.head()})
    head = shown(large, deployment)["commit"]
    large.store.close()
    restore(small.settings, tmp_path / "second")
    small.start()
    assert known(small) == (True, True, None)
    assert (shown(small, deployment)["commit"], revision) != (None, head)
    small.publisher.publish_all()
    with small.store.session() as session:
        names = [one[1]["name"] for one in deployments.listing(
            session, deployments.Wanted(), Moment(NOON), after=None, limit=9)]  # fmt: skip
    assert names == ["second", "storefront"]
    small.store.close()


def test_restored_over_what_is_there(
    tmp_path: Path, registry: FakeRegistry, server: postgres.Postgres
) -> None:
    """What stands in PostgreSQL is kept as a file; a controller that runs stops the restore."""
    works = on(tmp_path / "state", registry, server.create())
    deployment, _ = filled(works)
    backup(works.settings, tmp_path / "backup")
    works.act("delete", deployment)
    works.publisher.publish_all()
    with works.store.write() as session:
        fleet.tell_site(session, "harbor", {"applied_commit": works.repository.head()})
    works.store.close()
    url = works.settings.database_url.replace("postgresql://", "postgresql+psycopg://")
    other = create_engine(url, connect_args={"application_name": "margrave elsewhere 1"})
    with other.connect() as connection:
        connection.execute(text("SELECT 1"))
        with pytest.raises(Refused, match="connections of controllers that run"):
            restore(works.settings, tmp_path / "backup")
    other.dispose()
    done = restore(works.settings, tmp_path / "backup")
    works.start()
    assert shown(works, deployment)["state"] == "PENDING"
    kept = Store(f"sqlite:///{done['aside']}/margrave.db")
    with kept.session() as session:
        key = deployments.find(session, deployment)
    assert key is not None
    assert key.state.value == "DELETED"
    kept.close()
    works.store.close()


def test_rebuilt(tmp_path: Path, registry: FakeRegistry, server: postgres.Postgres) -> None:
    """Made anew from Git, with people and tokens as they were; once the runner has told what runs,
    nothing that is right is touched, and work goes on."""
    works = on(tmp_path / "state", registry, server.create())
    deployment, revision = filled(works)
    report(works, deployment, revision)
    head = works.repository.head()
    works.store.close()
    done = rebuild(works.settings)
    assert (done["head"], done["without_token"], done["findings"]) == (head, [], [])
    works.start()
    works.publisher.refresh()
    assert known(works) == (True, True, None)
    assert shown(works, deployment)["state"] == "PENDING"
    report(works, deployment, revision)
    found = shown(works, deployment)
    assert (found["state"], found["outcome"]) == ("INSTALLED", "succeeded")
    assert works.repository.head() == head
    works.act("update", deployment, version="1.1.0")
    works.publisher.publish_all()
    assert b"version: 1.1.0\n" in works.document({"site": "harbor", "id": deployment})
    works.store.close()


def test_rebuilt_where_the_old_one_is_lost(
    tmp_path: Path, registry: FakeRegistry, server: postgres.Postgres
) -> None:
    """An empty database is filled from Git; the sites that need a new token are named."""
    works = on(tmp_path / "state", registry, server.create())
    deployment, _ = filled(works)
    works.store.close()
    lost = works.settings.model_copy(
        update={"database": works.settings.database.model_copy(update={"url": server.create()})}
    )
    done = rebuild(lost)
    assert (done["carried"], done["without_token"], done["aside"]) == ({}, ["harbor"], None)
    store = Store(lost.database_url)
    with store.session() as session:
        assert deployments.find(session, deployment) is not None
    store.close()
