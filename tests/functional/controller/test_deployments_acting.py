"""What is asked of deployments that stand: selections, commands, and what travels in Git."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.publish.sites import Caller
from controller.store import aggregate, deployments, history
from controller.store.freshness import Moment
from controller.store.models import Placement
from margrave.documents.deployment import read_deployment
from margrave.errors import Conflict, DocumentError
from margrave.lifecycle import Outcome, State
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works, with_nodes


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry, queue={"limit": 3}).with_apps("depot", "harbor")
    yield works
    works.store.close()
    registry.stop()


def runs(works: Works, one: dict[str, str]) -> None:
    """What Git wants of a deployment runs on harbor-1, as its runner would tell."""
    with works.store.write() as session:
        key = deployments.find(session, one["id"])
        assert key is not None
        running = {
            "state": State.INSTALLED,
            "outcome": Outcome.SUCCEEDED,
            "revision": key.revision,
            "since": works.clock(),
            "updated_at": works.clock(),
        }
        session.add(Placement(deployment=key.key, node="harbor-1", incarnation=1, **running))
        session.flush()
        aggregate.settle(session, key.key, works.clock())


def test_a_command_needs_something_that_is_there(works: Works) -> None:
    """What is still being published, or deleted for good, has nothing to be told."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    with pytest.raises(Conflict, match="still being published"):
        works.act("retry", one["id"])
    works.publisher.publish_all()
    works.act("retry", one["id"])
    works.act("delete", one["id"])
    works.publisher.publish_all()
    with pytest.raises(Conflict, match="is deleted"):
        works.act("retry", one["id"])


def test_a_cancel_takes_back_what_is_still_in_the_queue(works: Works) -> None:
    """Nothing of it comes to Git; of a request that brings more than that it takes nothing back."""
    asked = works.create("harbor", version="1.0.0")
    works.act("cancel", asked["deployments"][0]["id"])
    assert works.request(asked)["state"] == "cancelled"
    before = works.repository.head()
    works.publisher.publish_all()
    assert works.repository.head() == before
    two = works.create("harbor", "depot", version="1.0.0")
    with pytest.raises(Conflict, match="still being published"):
        works.act("cancel", two["deployments"][0]["id"])
    works.act("cancel", *(one["id"] for one in two["deployments"]))
    assert works.request(two)["state"] == "cancelled"


def test_actions_on_many(works: Works) -> None:
    """An update of all sites by name is one request and one commit; commands need none."""
    works.create("harbor", "depot", version="1.0.0")
    works.publisher.publish_all()
    before = works.repository.head()
    body = {"action": "update", "select": {"name": "storefront"}, "version": "1.1.0"}
    answer = works.admission.act(body, ADA)
    assert len(answer["deployments"]) == 2
    works.publisher.publish_all()
    head = works.repository.head()
    assert works.repository.git.text("rev-list", "--count", f"{before}..{head}") == "1"
    retry = works.admission.act({"action": "retry", "select": {"sites": ["harbor"]}}, ADA)
    done = works.request(retry)
    assert (done["state"], done["commit"], done["action"]) == ("published", None, "retry")


def test_nothing_selected(works: Works) -> None:
    """An action that selects nothing is refused."""
    with pytest.raises(DocumentError, match="selects no deployment"):
        works.admission.act({"action": "delete", "select": {"name": "nothing"}}, ADA)


def test_rollback_passes_over_what_failed(works: Works) -> None:
    """Without a version it goes to content whose last attempt did not fail; with one, anywhere."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    first = _revision(works, one)
    works.act("update", one["id"], version="1.1.0")
    works.publisher.publish_all()
    second = _revision(works, one)
    for at, revision in enumerate((first, second, second)):
        ended = State.FAILED if at == 2 else State.INSTALLED
        _attempted(works, one["id"], revision, ended)
    works.act("update", one["id"], version="1.0.0", parameters={"greeting": "moin"})
    works.publisher.publish_all()
    works.act("rollback", one["id"])
    works.publisher.publish_all()
    assert _revision(works, one) == first
    works.act("rollback", one["id"], to="1.1.0")
    works.publisher.publish_all()
    assert _revision(works, one) == second


def _revision(works: Works, one: dict[str, str]) -> str:
    return read_deployment(works.document(one)).revision


def _attempted(works: Works, uuid: str, revision: str, ended: State) -> None:
    error = {"class": "health", "code": "", "message": "", "cure": ""}
    row = {
        "node": "n1", "incarnation": 1, "at": works.clock(), "from_state": State.UPDATING,
        "to_state": ended, "actor": "node", "reason": "", "attempt": 1, "revision": revision,
        "error": error if ended is State.FAILED else None, "irregular": False,
    }  # fmt: skip
    with works.store.write() as session:
        found = deployments.find(session, uuid)
        assert found is not None
        history.add(session, found.key, row)


def test_rollback_to_the_unknown(works: Works) -> None:
    """A rollback to a version that the document never had is refused."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    with pytest.raises(DocumentError, match=r'had no "9\.9\.9" before'):
        works.act("rollback", one["id"], to="9.9.9")
    with pytest.raises(DocumentError, match="had no other content before"):
        works.act("rollback", one["id"])


def test_null_is_the_default_again(works: Works) -> None:
    """A parameter set to null goes back to its default."""
    one = works.create("harbor", version="1.0.0", parameters={"greeting": "ahoy"})["deployments"][0]
    works.publisher.publish_all()
    works.act("update", one["id"], parameters={"greeting": None})
    works.publisher.publish_all()
    assert b"value: hello\n" in works.document(one)


def test_pause_and_drain_travel_in_git(works: Works) -> None:
    """Pausing a site and draining a node are commits that leave the rest of the document alone."""
    works.sites.change("harbor", {"labels": {"zone": "shop"}}, ADA)
    works.sites.pause("harbor", "stocktaking", None, Caller(ADA))
    works.sites.drain_node("harbor", "harbor-1", True, Caller(ADA))
    head = works.repository.head()
    assert head is not None
    text = works.repository.read(head, "sites/harbor.yaml")
    assert text is not None
    assert text.decode() == (
        "labels:\n  zone: shop\nnodes:\n  harbor-1:\n    drain: true\n"
        "paused:\n  by: ada\n  reason: stocktaking\n"
    )
    works.sites.resume("harbor", Caller(ADA))
    works.sites.drain_node("harbor", "harbor-1", False, Caller(ADA))
    head = works.repository.head()
    assert head is not None
    assert works.repository.read(head, "sites/harbor.yaml") == b"labels:\n  zone: shop\n"
    with pytest.raises(DocumentError):
        works.sites.change("harbor", {"timezone": "Mars/Olympus"}, ADA)
    with pytest.raises(Conflict):
        works.sites.create({"name": "harbor"}, ADA)
    works.create("harbor")
    with pytest.raises(Conflict, match="still has a deployment"):
        works.sites.remove("harbor", ADA)
    works.sites.remove("depot", ADA)


def test_ports_of_what_leaves_are_free(works: Works) -> None:
    """A deployment that is being deleted does not stand in the way of its successor."""
    with_nodes(works, "harbor", "harbor-1")
    one = works.create("harbor")["deployments"][0]
    works.publisher.publish_all()
    runs(works, one)
    works.act("delete", one["id"])
    works.publisher.publish_all()
    with works.store.session() as session:
        leaving = deployments.find(session, one["id"])
    assert leaving is not None
    assert leaving.state is not State.DELETED
    works.create("harbor")


def test_wanted_revision_opens_the_outcome(works: Works) -> None:
    """Another revision in Git makes outcomes pending; going back to what runs closes them."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    runs(works, one)

    def outcome() -> str:
        with works.store.session() as session:
            found = deployments.find(session, one["id"])
            assert found is not None
            moment = Moment(works.clock())
            return str(deployments.resource(session, found.key, moment)["outcome"])

    assert outcome() == "succeeded"
    works.act("update", one["id"], drift="report")
    works.publisher.publish_all()
    assert outcome() == "succeeded", "a change of policy is no new revision"
    works.act("update", one["id"], version="1.2.0")
    works.publisher.publish_all()
    assert outcome() == "pending"
    works.act("rollback", one["id"], to="1.0.0")
    works.publisher.publish_all()
    assert outcome() == "succeeded"
