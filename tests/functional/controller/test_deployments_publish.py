"""Requests become commits: what stands in Git afterwards, and what the database knows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from controller.store import deployments, events
from controller.store.freshness import Moment
from controller.store.models import Request
from controller.store.words import RequestState
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from tests.support.registry import FakeRegistry
from tests.support.works import Works, git


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    works = Works(tmp_path / "state", registry).with_apps("depot", "harbor")
    yield works
    works.store.close()


def test_one_commit_for_all_sites(works: Works) -> None:
    """A request to two sites is one commit with a document for each and the trailers."""
    answer = works.create("harbor", "depot", version="1.0.0", parameters={"greeting": "ahoy"})
    before = works.repository.head()
    works.publisher.publish_all()
    done = works.request(answer)
    assert (done["state"], done["error"]) == ("published", None)
    head = works.repository.head()
    assert done["commit"] == head
    assert works.repository.git.text("rev-list", "--count", f"{before}..{head}") == "1"
    message = works.repository.git.text("log", "-1", "--format=%an%n%B")
    assert f"Margrave-Request: {answer['id']}" in message
    assert message.startswith("ada\nInstall storefront 1.0.0 at depot, harbor")
    for one in answer["deployments"]:
        document = read_deployment(works.document(one))
        assert document.values == {"greeting": "ahoy"}
        assert f"Margrave-Revision: {document.revision}" in message
        with works.store.session() as session:
            key = deployments.find(session, one["id"])
            assert key is not None
            shown = deployments.resource(session, key.key, Moment(works.clock()))
        assert (shown["state"], shown["revision"]) == ("PENDING", document.revision)
        assert (shown["author"], shown["request"]) == ("ada", answer["id"])


def test_component_carries_digests(works: Works) -> None:
    """Published compose files name images by digest, under the digest of their folder."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    document = read_deployment(works.document(answer["deployments"][0]))
    head = works.repository.head()
    assert head is not None
    source = document.components[0].source
    assert source is not None
    text = works.repository.read(head, f"{source}/compose.yaml")
    assert text is not None
    assert b"registry.margrave.lab:5000/storefront-web:1.0.0@sha256:" in text


def test_same_request_twice_is_no_commit(works: Works) -> None:
    """An update to what stands already changes nothing in Git."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    head = works.repository.head()
    again = works.act("update", answer["deployments"][0]["id"], version="1.0.0")
    works.publisher.publish_all()
    assert works.request(again)["state"] == "published"
    assert works.repository.head() == head


def test_update_then_rollback_then_delete(works: Works) -> None:
    """A version goes forward, comes back to the exact content, and goes away with its component."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    first = read_deployment(works.document(one))
    works.act("update", one["id"], version="1.1.0", parameters={"greeting": "moin"})
    works.publisher.publish_all()
    second = read_deployment(works.document(one))
    assert (second.version, second.values) == ("1.1.0", {"greeting": "moin"})
    head = works.repository.head()
    assert head is not None
    assert works.repository.paths(head, [first.components[0].source or ""]) == {}
    works.act("rollback", one["id"])
    works.publisher.publish_all()
    third = read_deployment(works.document(one))
    assert (third.revision, third.version) == (first.revision, "1.0.0")
    head = works.repository.head()
    assert head is not None
    assert works.repository.paths(head, [first.components[0].source or ""])
    works.act("delete", one["id"])
    works.publisher.publish_all()
    head = works.repository.head()
    assert head is not None
    assert works.repository.paths(head, ["deployments", "components"]) == {}
    with works.store.session() as session:
        key = deployments.find(session, one["id"])
    assert key is not None
    assert key.state.value == "DELETED"


def test_a_persons_edit_stays(works: Works, tmp_path: Path) -> None:
    """What a person pushed into a document survives a later change of something else."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(works.repository.folder), "clone")
    path = tmp_path / "clone" / "deployments" / "harbor" / f"{one['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    raw["spec"]["parameters"]["greeting"]["value"] = "from grace"
    path.write_text(yaml_text.dump(raw))
    git(tmp_path / "clone", "commit", "-qam", "Greet otherwise")
    head = git(tmp_path / "clone", "rev-parse", "HEAD").strip()
    git(tmp_path / "clone", "push", "-q", "--receive-pack", _unhooked(tmp_path), "origin", "main")
    works.publisher.refresh()
    with works.store.session() as session:
        key = deployments.find(session, one["id"])
        assert key is not None
        shown = deployments.resource(session, key.key, Moment(works.clock()))
    assert (shown["parameters"], shown["author"], shown["commit"]) == (
        {"greeting": "from grace"},
        "Grace",
        head,
    )
    works.act("update", one["id"], drift="report")
    works.publisher.publish_all()
    document = read_deployment(works.document(one))
    assert document.values == {"greeting": "from grace"}
    assert document.extensions.drift == "report"


def test_what_a_person_adds_and_removes_is_told(works: Works, tmp_path: Path) -> None:
    """A document that no request brought gets its row and its event; so does its end."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    clone, fresh = tmp_path / "clone", "00000000-0000-4000-8000-0000000000aa"
    git(tmp_path, "clone", "-q", str(works.repository.folder), str(clone))
    folder = clone / "deployments" / "harbor"
    text = (folder / f"{one['id']}.yaml").read_text().replace(one["id"], fresh)
    (folder / f"{fresh}.yaml").write_text(text.replace("name: storefront\n", "name: kiosk\n", 1))
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "Add a kiosk")
    git(works.repository.folder, "fetch", "-q", str(clone), "main:main")
    works.publisher.refresh()
    told = _newest_event(works, fresh)
    assert (told["name"], told["state"], told["request"]) == ("kiosk", "PENDING", None)
    assert told["parameters"] == _newest_event(works, one["id"])["parameters"] != {}

    git(clone, "rm", "-q", f"deployments/harbor/{fresh}.yaml")
    git(clone, "commit", "-qm", "No kiosk")
    git(works.repository.folder, "fetch", "-q", str(clone), "main:main")
    works.publisher.refresh()
    gone = _newest_event(works, fresh)
    assert (gone["state"], gone["parameters"]) == ("DELETED", told["parameters"])


def _newest_event(works: Works, deployment: str) -> dict[str, Any]:
    with works.store.session() as session:
        found = [one for one in events.since(session, 0, 1000) if one["deployment"] == deployment]
        key = deployments.find(session, deployment)
        assert key is not None
        stored = deployments.resource(session, key.key, Moment(works.clock()))
    told: dict[str, Any] = found[-1]["data"]
    assert {name: told[name] for name in stored} == stored  # what is told is what stands
    return told


def test_registry_away_keeps_the_request(works: Works, registry: FakeRegistry) -> None:
    """While the registry is ill a request waits with the reason; then it is published."""
    registry.ill = True
    answer = works.create("harbor")
    works.publisher.publish_all()
    waiting = works.request(answer)
    assert waiting["state"] == "queued"
    assert "answers 503" in waiting["error"]["message"]
    registry.ill = False
    works.clock.forward(60)
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"


def test_missing_image_fails_the_request(works: Works, registry: FakeRegistry) -> None:
    """A tag that does not exist ends the request; the deployment it announced is DELETED."""
    registry.missing.add("storefront-cache")
    answer = works.create("harbor")
    works.publisher.publish_all()
    failed = works.request(answer)
    assert failed["state"] == "failed"
    assert "storefront-cache" in failed["error"]["message"]
    with works.store.session() as session:
        key = deployments.find(session, answer["deployments"][0]["id"])
    assert key is not None
    assert key.state.value == "DELETED"


def test_killed_between_commit_and_row(works: Works) -> None:
    """A request whose commit came through before the process died is not published twice."""
    answer = works.create("harbor")
    works.publisher.publish_all()
    head = works.repository.head()
    with works.store.write() as session:
        session.execute(update(Request).values(state=RequestState.PUBLISHING, commit=None))
    works.store.close()
    works.start()
    works.publisher.recover()
    works.publisher.publish_all()
    assert works.repository.head() == head
    assert works.request(answer)["commit"] == head


def test_told_to_stop_it_finishes_what_it_is_at(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the queue is, one request is published after the word to stop; the others wait
    for the next start."""
    answers = [works.create("harbor", name=f"shop-{one}") for one in range(3)]
    stop = threading.Event()
    given = works.publisher.publish_next

    def told_meanwhile() -> bool:
        stop.set()
        return given()

    monkeypatch.setattr(works.publisher, "publish_next", told_meanwhile)
    works.publisher.publish_all(stop)
    states = [works.request(one)["state"] for one in answers]
    assert states == ["published", "queued", "queued"]


def _unhooked(folder: Path) -> str:
    """A receive-pack without the hook, as a forge elsewhere would have it."""
    script = folder / "receive-pack"
    script.write_text('#!/bin/sh\nexec git -c core.hooksPath=/dev/null receive-pack "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_one_of_many_gets_another_name(works: Works, tmp_path: Path) -> None:
    """A person's commit to several documents, one of them renamed, changes each row as it says."""
    answer = works.create("harbor", "depot", version="1.0.0", parameters={"greeting": "ahoy"})
    works.publisher.publish_all()
    renamed, kept = answer["deployments"]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(works.repository.folder), str(clone))
    for one in (renamed, kept):
        file = clone / "deployments" / one["site"] / f"{one['id']}.yaml"
        raw = yaml_text.parse(file.read_bytes()).value
        if one is renamed:
            raw["metadata"]["name"] = "kiosk"
        raw["spec"]["parameters"]["greeting"]["value"] = 'a "line"\\\nanother\u00fc'
        file.write_text(yaml_text.dump(raw), encoding="utf-8")
    git(clone, "commit", "-qam", "Name one of them otherwise")
    git(works.repository.folder, "fetch", "-q", str(clone), "main:main")
    works.publisher.refresh()
    shown = {}
    with works.store.session() as session:
        for one in (renamed, kept):
            key = deployments.find(session, one["id"])
            assert key is not None
            shown[one["id"]] = deployments.resource(session, key.key, Moment(works.clock()))
    assert shown[renamed["id"]]["name"] == "kiosk"
    assert shown[kept["id"]]["name"] == "storefront"
    for one in shown.values():
        assert one["parameters"] == {"greeting": 'a "line"\\\nanother\u00fc'}
        assert (one["author"], one["request"], one["in_git"]) == ("Grace", None, True)
