"""The controller on the databases of earlier versions, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient

from controller import settings
from controller.app import assemble, create_app
from controller.chores import Chores
from controller.parts import Parts
from controller.store import Store
from tests.functional.controller.kit import Api, Clock
from tests.functional.upgrade.conftest import RestoredController
from tests.support import fixture_sets
from tests.support.fixture_sets import FixtureSet
from tests.support.served import MARGRAVE
from tests.support.waiting import eventually

# They depend on when somebody asks.
CHANGING = {"freshness", "status", "last_used_at", "eta", "position"}
# A process on PostgreSQL takes long to start, and differs in nothing that the other tests miss.
PROCESSES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)]


@pytest.fixture
def parts(restored: RestoredController) -> Iterator[Parts]:
    """The upgraded controller, an hour after the old one was stopped."""
    loaded = restored.load()
    store = Store(loaded.database_url)
    store.migrate()
    store.close()
    upgraded = assemble(loaded, Clock(restored.fixture_set.made_at + timedelta(hours=1)))
    upgraded.repository.prepare()
    yield upgraded
    upgraded.broker.stop()
    upgraded.store.close()


@pytest.fixture
def client(parts: Parts) -> FlaskClient:
    return create_app(parts).test_client()


@pytest.fixture
def admin(restored: RestoredController, client: FlaskClient) -> Api:
    return Api(client, restored.credentials["tokens"]["admin"])


def test_everything_is_shown_as_before(restored: RestoredController, admin: Api) -> None:
    """Deployments, history, requests, sites, people and audit keep each value."""
    before = restored.fixture_set.json(f"{restored.kind}/api.json")

    pages = {path: _pages(admin, path) for path in before}
    # The list leaves plans out.
    requests = pages["/requests"]
    pages["/requests"] = [admin.get(f"/requests/{item['id']}").json for item in requests]
    shown = json.dumps(pages)
    after = json.loads(shown.replace(str(restored.home.parent), fixture_sets.BASE))

    empty = {path for path, items in before.items() if not items}
    assert not any(path.count("/") == 1 for path in empty), "a set without content proves nothing"
    for path, items in before.items():
        assert _comparable(items, after[path]) == [_stable(item) for item in items], path
    assert admin.get("/audit/verify").json["broken_at"] is None


def _pages(admin: Api, path: str) -> list[Any]:
    """Return all items of a list, over all its pages."""
    items: list[Any] = []
    sign, cursor = "&" if "?" in path else "?", ""
    while True:
        page = admin.get(f"{path}{sign}limit=100{cursor}").json
        items += page["items"]
        if not page["next"]:
            return items
        cursor = f"&cursor={page['next']}"


def _stable(value: Any) -> Any:
    """Return a value without what changes by itself."""
    if isinstance(value, list):
        return [_stable(item) for item in value]
    if isinstance(value, dict):
        return {key: _stable(item) for key, item in value.items() if key not in CHANGING}
    return value


def _comparable(before: Any, after: Any) -> Any:
    """Return what `after` has for everything that is in `before`: a new version may add fields."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [_comparable(*pair) for pair in zip(before, after, strict=True)]
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            key: _comparable(item, after.get(key))
            for key, item in before.items()
            if key not in CHANGING
        }
    return _stable(after)


def test_people_and_tokens_are_still_known(
    restored: RestoredController, client: FlaskClient
) -> None:
    """Tokens keep their roles and sites, revoked and expired ones stay so, and passwords hold."""
    credentials = restored.credentials
    sites = {
        name: _sites(client, token)
        for name, token in credentials["tokens"].items()
        if name not in ("expired", "revoked")
    }

    assert sites == {
        "admin": {"harbor", "depot", "pier"},
        "operator": {"harbor", "depot", "pier"},
        "viewer-of-harbor": {"harbor"},
        "operator-of-shops": {"harbor", "pier"},
    }
    for name in ("expired", "revoked"):
        assert Api(client, credentials["tokens"][name]).get("/sites").status_code == 401, name
    for site, token in credentials["site_tokens"].items():
        assert Api(client, token).get(f"/sites/{site}").status_code == 200
    for user, password, code in (
        (credentials["user"], credentials["password"], 201),
        ("ada", "correct horse battery", 201),
        ("ada", "another password", 401),
        ("otto", "correct horse battery", 401),
    ):
        answer = client.post("/api/v1/login", json={"user": user, "password": password})
        assert answer.status_code == code, user


def _sites(client: FlaskClient, token: str) -> set[str]:
    return {site["name"] for site in Api(client, token).get("/sites").json["items"]}


def test_nothing_is_published_until_somebody_asks(
    restored: RestoredController, parts: Parts, admin: Api
) -> None:
    """After an upgrade every branch stays where it was; the next change is one commit."""
    before = restored.branches()
    parts.publisher.refresh()
    parts.publisher.publish_all()
    parts.catalog.sync_due()
    Chores(parts).sweep()
    assert restored.branches() == before
    assert admin.get("/requests?state=queued").json["items"] == []

    (shop,) = admin.get("/deployments?name=storefront&site=depot").json["items"]
    old = parts.repository.head()
    change = {"version": "1.0.0", "parameters": {"greeting": "upgraded"}}
    answer = admin.patch(f"/deployments/{shop['id']}", json=change)
    assert answer.status_code == 202, answer.text
    parts.publisher.publish_all()

    request = admin.get(f"/requests/{answer.json['id']}").json
    assert (request["state"], request["commit"]) == ("published", parts.repository.head())
    count = fixture_sets.git(restored.repository, "rev-list", "--count", f"{old}..main")
    assert count == "1"
    shop = admin.get(f"/deployments/{shop['id']}").json
    assert (shop["version"], shop["parameters"]) == ("1.0.0", {"greeting": "upgraded"})


@pytest.mark.parametrize("restored", PROCESSES, indirect=True)
def test_the_process_starts_and_serves(restored: RestoredController) -> None:
    """`migrate` and `serve` work on the old folder, and a runner's token reads the repository."""
    command = [str(MARGRAVE), "controller"]
    config = ["--config", str(restored.home / "margrave.toml")]
    subprocess.run([*command, "migrate", *config], check=True, timeout=120)
    before = restored.branches()
    environment = {**os.environ, **restored.environment, **fixture_sets.KEEP_HISTORY}
    with (restored.home / "log").open("wb") as log:
        process = subprocess.Popen([*command, "serve", *config], stderr=log, env=environment)
    try:
        url = f"http://127.0.0.1:{restored.port}"
        eventually(_ready(url), 120, "the controller is ready", pause=0.1)
        headers = {"Authorization": f"Bearer {restored.credentials['tokens']['admin']}"}
        shown = httpx.get(f"{url}/api/v1/deployments", headers=headers).json()["items"]
        before_upgrade = restored.fixture_set.json(f"{restored.kind}/api.json")["/deployments"]
        assert {deployment["id"] for deployment in shown} == {
            deployment["id"] for deployment in before_upgrade
        }
        token = restored.credentials["site_tokens"]["harbor"]
        remote = f"http://harbor:{token}@127.0.0.1:{restored.port}/git/deployments.git"
        heads = fixture_sets.git(restored.home, "ls-remote", remote, "refs/heads/main")
        assert heads.split()[0] in before
    finally:
        process.terminate()
        process.wait(60)
    assert restored.branches() == before


def _ready(url: str) -> Callable[[], bool]:
    def ready() -> bool:
        try:
            return httpx.get(f"{url}/readyz", timeout=10).is_success
        except httpx.TransportError:
            return False

    return ready


def test_a_backup_of_an_earlier_version_is_restored(
    fixture_set: FixtureSet, tmp_path: Path
) -> None:
    """`controller restore` takes the old file: database, repository and signing key are there."""
    home = tmp_path / "controller"
    home.mkdir()
    config = home / "margrave.toml"
    config.write_text('[state]\ndir = "state"\n[git]\nsigning_key = "state/keys/signing"\n')
    backup = str(fixture_set.folder / "sqlite/backup.tar.gz")
    words = [str(MARGRAVE), "controller", "restore", backup, "--yes", "--config", str(config)]

    process = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    assert process.returncode == 0, process.stderr
    assert "have to accept" not in process.stdout
    assert (home / "state/keys/signing").is_file()
    upgraded = assemble(settings.load(config, {}), Clock(fixture_set.made_at + timedelta(hours=1)))
    admin = Api(
        create_app(upgraded).test_client(),
        fixture_set.json("sqlite/credentials.json")["tokens"]["admin"],
    )
    before_upgrade = fixture_set.json("sqlite/api.json")["/deployments"]
    shown = admin.get("/deployments").json["items"]
    assert [deployment["id"] for deployment in shown] == [
        deployment["id"] for deployment in before_upgrade
    ]
    bundle = fixture_sets.git(
        tmp_path, "bundle", "list-heads", str(fixture_set.folder / "sqlite/deployments.bundle")
    )
    assert str(upgraded.repository.head()) in bundle
    upgraded.broker.stop()
    upgraded.store.close()
