"""A repository elsewhere: a forge takes the commits, people push to it, and it may be away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.store import deployments, fleet
from controller.store.freshness import Moment
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from margrave.errors import Unreachable
from tests.support.works import ADA, Works, at_forge, git, head_of


@pytest.fixture
def works(tmp_path: Path, forge: Path) -> Iterator[Works]:
    with at_forge(tmp_path / "state", forge, "harbor") as made:
        yield made


def test_commits_go_to_the_forge(works: Works, forge: Path) -> None:
    """The first commit makes the branch; each request is pushed before it counts as published."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    assert works.request(answer)["commit"] == head_of(forge)
    assert git(forge, "log", "--format=%s", "main").splitlines() == [
        "Install storefront 1.0.0 at harbor",
        "Add site harbor",
    ]


def test_lost_push_is_applied_again(works: Works, forge: Path, tmp_path: Path) -> None:
    """When somebody pushes between fetch and push, the change is applied to what they pushed."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(forge), "clone")
    clone = tmp_path / "clone"
    path = clone / "deployments" / "harbor" / f"{one['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    raw["spec"]["parameters"]["greeting"]["value"] = "from grace"
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-qam", "Greet otherwise")
    advance = works.repository.advance
    pushes: list[str] = []

    def overtaken(old: str | None, new: str) -> bool:
        if not pushes:
            git(clone, "push", "-q")
        pushes.append(new)
        return advance(old, new)

    works.repository.advance = overtaken  # type: ignore[method-assign]
    works.act("update", one["id"], version="1.1.0")
    works.publisher.publish_all()
    assert len(pushes) == 2
    document = read_deployment(works.document(one))
    assert (document.version, document.values) == ("1.1.0", {"greeting": "from grace"})
    assert works.repository.head() == head_of(forge)


def test_forge_away(works: Works, forge: Path) -> None:
    """While the forge is away requests wait with the reason, and are published when it is back."""
    away = forge.with_name("away.git")
    forge.rename(away)
    answer = works.create("harbor")
    works.publisher.publish_all()
    waiting = works.request(answer)
    assert (waiting["state"], waiting["position"]) == ("queued", 1)
    assert "git fetch" in waiting["error"]["message"]
    with pytest.raises(Unreachable):
        works.sites.create({"name": "depot"}, ADA)
    away.rename(forge)
    works.clock.forward(60)
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"


def test_a_commit_of_somebody_else_that_names_a_request(
    works: Works, forge: Path, tmp_path: Path
) -> None:
    """A request that waits is published, also when a person's commit at one of its sites says that
    it was: who may change one site only cannot take a request of two back."""
    works.sites.create({"name": "depot"}, ADA)
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(forge), "clone")
    away = forge.with_name("away.git")
    forge.rename(away)
    answer = works.create("harbor", "depot")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "queued"
    away.rename(forge)
    works.clock.forward(60)

    note = tmp_path / "clone" / "deployments" / "harbor" / "README"
    note.parent.mkdir(parents=True)
    note.write_text("hello\n")
    git(note.parent, "add", ".")
    git(note.parent, "commit", "-qm", f"Say hello\n\nMargrave-Request: {answer['id']}")
    git(note.parent, "push", "-q")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"
    for deployment in answer["deployments"]:
        assert works.document(deployment)


def test_push_whose_answer_was_lost(works: Works, forge: Path) -> None:
    """A push that came through although the answer did not is seen in Git, not made twice."""
    push = works.repository.advance

    def lost(old: str | None, new: str) -> bool:
        push(old, new)
        raise Unreachable("the line broke")

    works.repository.advance = lost  # type: ignore[method-assign]
    answer = works.create("harbor")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "queued"
    head = head_of(forge)
    works.repository.advance = push  # type: ignore[method-assign]
    works.clock.forward(60)
    works.publisher.publish_all()
    done = works.request(answer)
    assert (done["state"], done["commit"], head_of(forge)) == ("published", head, head)


def test_people_add_break_and_remove(works: Works, forge: Path, tmp_path: Path) -> None:
    """What people push to the forge is known here: new documents, broken ones, removed ones."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(forge), "clone")
    clone = tmp_path / "clone"
    folder = clone / "deployments" / "harbor"
    mine = "11111111-2222-4333-8444-555555555555"
    text = (folder / f"{one['id']}.yaml").read_text()
    raw = yaml_text.parse(text.replace(one["id"], mine)).value
    raw["metadata"]["name"] = "by-hand"
    (folder / f"{mine}.yaml").write_text(yaml_text.dump(raw))
    (folder / f"{one['id']}.yaml").write_text(text + "odd: 1\n")
    (clone / "deployments" / "quay").mkdir()
    raw["metadata"]["deviceId"] = "quay/*"
    (clone / "deployments" / "quay" / f"{mine}.yaml").write_text(yaml_text.dump(raw))
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Add one, break one")
    git(clone, "push", "-q")
    works.publisher.refresh()
    moment = Moment(works.clock())
    with works.store.session() as session:
        added = deployments.find(session, mine, "harbor")
        broken = deployments.find(session, one["id"])
        assert added is not None
        assert broken is not None
        shown = deployments.resource(session, added.key, moment)
        assert (shown["name"], shown["author"], shown["request"]) == ("by-hand", "Grace", None)
        assert shown["commit"] == head_of(forge)
        found = deployments.resource(session, broken.key, moment)
        assert [each["pointer"] for each in found["findings"]] == ["/odd"]
        assert found["version"] == "1.0.0"
        site = fleet.site(session, "harbor", moment)
        assert site is not None
        assert [each["pointer"] for each in site["findings"]] == ["/odd"]
        assert fleet.site(session, "quay", moment) is not None
    git(clone, "rm", "-q", "-r", "deployments/harbor")
    git(clone, "commit", "-qm", "Take all away")
    git(clone, "push", "-q")
    works.publisher.refresh()
    with works.store.session() as session:
        gone = deployments.find(session, mine, "harbor")
        site = fleet.site(session, "harbor", moment)
    assert gone is not None
    assert (gone.in_git, gone.state.value) == (False, "DELETED")
    assert site is not None
    assert site["findings"] == []


def test_values_outside_the_schema_are_shown(works: Works, forge: Path, tmp_path: Path) -> None:
    """A forge takes any value: what the application's schema forbids is shown at deployment and
    site, with its line, until it is put right; what people wanted stays wanted."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(forge), "clone")
    path = tmp_path / "clone" / "deployments" / "harbor" / f"{one['id']}.yaml"

    def greet(value: object) -> tuple[list[str], list[str], object]:
        raw = yaml_text.parse(path.read_bytes()).value
        raw["spec"]["parameters"]["greeting"]["value"] = value
        path.write_text(yaml_text.dump(raw))
        git(tmp_path / "clone", "commit", "-qam", f"Greet with {value}")
        git(tmp_path / "clone", "push", "-q")
        works.publisher.refresh()
        with works.store.session() as session:
            key = deployments.find(session, one["id"])
            assert key is not None
            shown = deployments.resource(session, key.key, Moment(works.clock()))
            site = fleet.site(session, "harbor", Moment(works.clock()))
        assert site is not None
        told = [[each["pointer"] for each in which["findings"]] for which in (shown, site)]
        return told[0], told[1], shown["parameters"]["greeting"]

    pointer = ["/spec/parameters/greeting/value"]
    assert greet(7) == (pointer, pointer, 7)
    assert greet("moin") == ([], [], "moin")


def test_refused_push_says_why(works: Works, forge: Path) -> None:
    """A main that is protected is told in the forge's own words, with the setting that helps."""
    hook = forge / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho main is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = works.create("harbor")
    works.publisher.publish_all()
    waiting = works.request(answer)
    assert waiting["state"] == "queued"
    assert "the remote refuses the push: main is protected" in waiting["error"]["message"]
    assert 'mode = "branch"' in waiting["error"]["cure"]
