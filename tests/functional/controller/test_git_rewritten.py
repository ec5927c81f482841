"""Main was rewritten or removed at the forge: everything stops until a person says what holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.publish import trunk
from controller.publish.trunk import Halted
from controller.store import deployments, facts
from margrave.errors import NotFound, Refused
from tests.support.works import ADA, Works, at_forge, git, head_of


@pytest.fixture
def works(tmp_path: Path, forge: Path) -> Iterator[Works]:
    with at_forge(tmp_path / "state", forge, "harbor") as made:
        yield made


def rewritten(forge: Path, tmp_path: Path) -> str:
    """Somebody takes the newest commit back by force; where main stands now."""
    git(tmp_path, "clone", "-q", str(forge), "clone")
    clone = tmp_path / "clone"
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    git(clone, "push", "-q", "--force")
    return head_of(forge)


def test_rewritten_history_stops(works: Works, forge: Path, tmp_path: Path) -> None:
    """A rewritten main is neither followed nor built on: what is known stays, requests wait with
    the reason, changes of sites are refused, and it goes on by itself when main is put right."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    good = works.repository.head()
    bad = rewritten(forge, tmp_path)
    with pytest.raises(Halted, match="was rewritten"):
        works.publisher.refresh()
    answers = [works.create("harbor", name=name) for name in ("second", "third")]
    works.publisher.publish_all()
    for answer in answers:
        waiting = works.request(answer)
        assert (waiting["state"], waiting["error"]["code"]) == ("queued", "halted")
        assert bad in waiting["error"]["cure"]
    with pytest.raises(Halted):
        works.sites.create({"name": "depot"}, ADA)
    with works.store.session() as session:
        found = deployments.find(session, one["id"])
    assert found is not None
    assert found.in_git
    assert (works.repository.head(), head_of(forge)) == (good, bad)
    git(forge, "update-ref", "refs/heads/main", str(good))
    works.clock.forward(120)
    works.publisher.publish_all()
    assert {works.request(answer)["state"] for answer in answers} == {"published"}
    assert "Install storefront 1.0.0" in git(forge, "log", "--format=%s", "main")


def test_rewritten_history_accepted(works: Works, forge: Path, tmp_path: Path) -> None:
    """Accepted by its commit, the rewritten main is what is wanted; what stood before is kept."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    lost = works.repository.head()
    bad = rewritten(forge, tmp_path)
    with works.store.write() as session, pytest.raises(NotFound, match="nothing to accept"):
        trunk.accept(session, bad)
    with pytest.raises(Halted):
        works.publisher.refresh()
    with works.store.write() as session, pytest.raises(Refused, match="does not stand"):
        trunk.accept(session, str(lost))
    with works.store.write() as session:
        assert trunk.accept(session, bad[:12]) == bad
    works.publisher.refresh()
    with works.store.session() as session:
        key = deployments.find(session, one["id"])
        assert trunk.halt(session) is None
    assert key is not None
    assert not key.in_git
    assert works.repository.git.text("rev-parse", f"refs/kept/{lost}") == lost
    works.create("harbor")
    works.publisher.publish_all()
    assert git(forge, "log", "--format=%s", "-1", "main").startswith("Install storefront")
    works.publisher.refresh()
    with works.store.session() as session:
        assert facts.get(session, facts.HALT) is None


def test_accepted_and_rewritten_again(works: Works, forge: Path, tmp_path: Path) -> None:
    """What was accepted is one commit: another rewriting behind it stops again."""
    works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    bad = rewritten(forge, tmp_path)
    with pytest.raises(Halted):
        works.publisher.refresh()
    with works.store.write() as session:
        trunk.accept(session, bad)
    git(tmp_path / "clone", "commit", "-q", "--amend", "-m", "Other words")
    git(tmp_path / "clone", "push", "-q", "--force")
    with pytest.raises(Halted):
        works.publisher.refresh()


def test_removed_main_stops(works: Works, forge: Path) -> None:
    """A main that is gone is not made anew with what is left of it, until that is accepted."""
    works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    known = works.repository.head()
    git(forge, "update-ref", "-d", "refs/heads/main")
    answer = works.create("harbor", name="second")
    works.publisher.publish_all()
    assert "main is gone" in works.request(answer)["error"]["message"]
    with works.store.write() as session:
        trunk.accept(session, str(known))
    works.clock.forward(120)
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"
    assert git(forge, "log", "--format=%s", "main").count("\n") == 3
