"""What the controller does by itself: read what was pushed, notice silence, forget what is old."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient

from controller import chores as chores_room
from controller import health
from controller.app import create_app
from controller.chores import Chores
from controller.parts import Parts
from controller.reports.silence import Silence
from controller.settings import ControllerSettings
from controller.store import catalog, events
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, placed
from tests.support.forges import github
from tests.support.waiting import eventually
from tests.support.works import APPS, git

SECRET = "known to the forge"
MONTH = 31 * 24 * 3600


def _told(parts: Parts) -> list[tuple[str, str]]:
    with parts.store.session() as session:
        found = events.since(session, 0, 1000)
    return [(one["event"], one["data"].get("freshness", "")) for one in found]


def test_silence_is_an_event(parts: Parts, harbor: Runner, clock: Clock):
    """A site that falls silent, and one that speaks again, are told to everybody once."""
    silence = Silence(parts.store, parts.moment)
    harbor.beat()
    silence.look()
    before = len(_told(parts))
    clock.forward(31)
    silence.look()
    silence.look()
    assert _told(parts)[before:] == [("site", "unknown")]
    harbor.beat()
    silence.look()
    assert ("site", "fresh") in _told(parts)[before + 1 :]


def test_what_is_old_is_deleted_and_ids_are_not_given_twice(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api
):
    """Past retention events and ended deployments are gone; the next event has a new id."""
    ended = add_deployment(parts, "harbor", "ended", in_git=False)
    kept = add_deployment(parts, "harbor", "kept")
    for uuid in (ended, kept):
        harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
    harbor.report("placement", placed(ended, "harbor-1", "DELETING", "PENDING"))
    harbor.report("placement", placed(ended, "harbor-1", "DELETED", "DELETING"))
    newest = parts.broker.newest()
    clock.forward(MONTH)
    Chores(parts).sweep()
    assert len(_told(parts)) == 1
    assert viewer.get(f"/deployments/{ended}").status_code == 404
    assert viewer.get(f"/deployments/{kept}").status_code == 200
    harbor.report("placement", placed(kept, "harbor-1", "INSTALLING", "PENDING"))
    assert parts.broker.newest() > newest


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> ControllerSettings:
    return ControllerSettings.model_validate(
        {
            "state": {"dir": tmp_path / "state"},
            "catalog": {"local_roots": [tmp_path]},
            "database": {"url": database},
            "hooks": {"secrets": [SECRET]},
        }
    )


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    """A person's clone of a source on a forge: branches master (its own), release, a tag."""
    git(tmp_path, "init", "-q", "--bare", "-b", "master", "apps.git")
    git(tmp_path, "clone", "-q", "apps.git", "clone")
    clone = tmp_path / "clone"
    shutil.copytree(APPS / "storefront" / "1.0.0", clone / "1.0.0")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Begin")
    git(clone, "push", "-q", "origin", "HEAD:master", "HEAD:release", "HEAD:refs/tags/stable")
    return clone


@pytest.fixture
def working(parts: Parts) -> Iterator[tuple[FlaskClient, Chores]]:
    """The controller at work, as it is served."""
    chores = Chores(parts)
    client = create_app(parts, chores).test_client()
    chores.start()
    yield client, chores
    chores.stop()


def pushed(client: FlaskClient, forge: Path, ref: str) -> str:
    """Push to a ref, and let the forge tell of it; the commit."""
    git(forge, "commit", "-q", "--allow-empty", "-m", f"More for {ref}")
    git(forge, "push", "-q", "--force", "origin", f"HEAD:{ref}")
    commit = git(forge, "rev-parse", "HEAD").strip()
    where = {"clone_url": str(forge.with_name("apps.git"))}
    body = json.dumps({"ref": ref, "after": commit, "repository": where}).encode()
    signed = github(body, SECRET) | {"X-GitHub-Delivery": commit}
    answer = client.post("/hooks/git", data=body, headers=signed, content_type="application/json")
    assert answer.get_json() == {"status": "accepted", "id": commit}
    return commit


def read(parts: Parts, source: str) -> str | None:
    """The commit that a source was last read at."""
    with parts.store.session() as session:
        found = catalog.source(session, source)
    return found["commit"] if found else None


def test_a_push_to_what_a_source_follows_is_read(
    parts: Parts, working: tuple[FlaskClient, Chores], forge: Path
) -> None:
    """A source at a branch of its own, at a tag, or at whichever branch the forge calls its own:
    each is read as soon as the forge tells of a push, long before its turn."""
    client, _ = working
    url = str(forge.with_name("apps.git"))
    for name, ref in (("own", None), ("branch", "release"), ("tag", "stable")):
        parts.catalog.add({"name": name, "url": url, "ref": ref})
        parts.catalog.sync(name)
    for name, ref in (
        ("own", "refs/heads/master"),
        ("branch", "refs/heads/release"),
        ("tag", "refs/tags/stable"),
    ):
        commit = pushed(client, forge, ref)
        eventually(lambda name=name, commit=commit: read(parts, name) == commit, 60, name)


def test_a_push_that_comes_as_a_form_is_heard(
    parts: Parts, working: tuple[FlaskClient, Chores], forge: Path
) -> None:
    """The whole controller, and not the door alone, leaves the bytes that were signed as they
    came; a null character in them harms nobody."""
    client, _ = working
    parts.catalog.add({"name": "own", "url": str(forge.with_name("apps.git"))})
    where = {"clone_url": str(forge.with_name("apps.git"))}
    push = {"ref": "refs/heads/master", "after": "c" * 40, "repository": where, "more": "\0"}
    body = urlencode({"payload": json.dumps(push)}).encode()
    form = "application/x-www-form-urlencoded"
    answer = client.post("/hooks/git", data=body, headers=github(body, SECRET), content_type=form)
    assert (answer.status_code, answer.get_json()["status"]) == (202, "accepted")
    unsigned = client.post("/hooks/git", data=b"payload=%00", content_type=form)
    assert unsigned.status_code == 401


def test_of_many_sources_the_last_is_heard_of(
    parts: Parts, working: tuple[FlaskClient, Chores], forge: Path
) -> None:
    """Behind two hundred sources one is followed and told of as the first is."""
    client, _ = working
    for number in range(201):
        parts.catalog.add({"name": f"a{number}", "url": f"https://forge.invalid/{number}"})
    parts.catalog.add({"name": "z", "url": str(forge.with_name("apps.git"))})
    with parts.store.write() as session:
        for number in range(201):
            catalog.synced(session, f"a{number}", None, [], parts.clock())
        catalog.sync_failed(session, "z", "it was away", parts.clock())
    told = {one.name: one.problem for one in health.checks(parts)}
    assert told["sources"] == "z: it was away"
    commit = pushed(client, forge, "refs/heads/master")
    eventually(lambda: read(parts, "z") == commit)


def test_a_burst_of_pushes_is_one_look(
    parts: Parts, working: tuple[FlaskClient, Chores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand hints while Git is being looked at are one more look, not a thousand."""
    _, chores = working
    looks: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def look() -> None:
        looks.append(1)
        begun.set()
        go_on.wait(30)

    monkeypatch.setattr(parts.publisher, "refresh", look)
    chores.look()
    assert begun.wait(30)
    for _ in range(1000):
        chores.look()
    go_on.set()
    eventually(lambda: len(looks) == 2)
    chores.stop()
    assert len(looks) == 2


def test_sources_are_read_again_on_a_timer(
    parts: Parts, forge: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody tells of a push: past catalog.sync_interval it is read all the same."""
    monkeypatch.setattr(chores_room, "SOURCES_EVERY", 0.05)
    monkeypatch.setattr(chores_room, "SHARED_PAUSE", 0.05)
    parts.catalog.add({"name": "own", "url": str(forge.with_name("apps.git"))})
    chores = Chores(parts)
    chores.start()
    first = git(forge, "rev-parse", "HEAD").strip()
    eventually(lambda: read(parts, "own") == first)
    git(forge, "commit", "-q", "--allow-empty", "-m", "More")
    git(forge, "push", "-q", "origin", "HEAD:master")
    clock.forward(301)
    second = git(forge, "rev-parse", "HEAD").strip()
    eventually(lambda: read(parts, "own") == second)
    chores.stop()
