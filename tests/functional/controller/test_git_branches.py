"""A protected main: requests stand on branches until people merge them, or close them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.access.passwords import token_hash
from controller.app import assemble, create_app
from controller.publish.sites import Caller
from controller.store import access, deployments, documents
from controller.store.words import Role
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from margrave.errors import Conflict
from tests.functional.controller.kit import Api
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works, git

PROTECTED = """#!/bin/sh
while read old new ref; do
  [ "$ref" = refs/heads/main ] && [ ! -e "$GIT_DIR/open" ] && { echo protected >&2; exit 1; }
done
exit 0
"""


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    """A bare repository whose main takes nothing but merges."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "forge.git")
    forge = tmp_path / "forge.git"
    git(tmp_path, "clone", "-q", str(forge), "people")
    people = tmp_path / "people"
    (people / "sites").mkdir()
    (people / "sites" / "harbor.yaml").write_text("labels:\n  zone: shop\n")
    git(people, "add", ".")
    git(people, "commit", "-qm", "Begin")
    git(people, "push", "-q", "origin", "HEAD:main")
    hook = forge / "hooks" / "pre-receive"
    hook.write_text(PROTECTED)
    hook.chmod(0o755)
    return forge


@pytest.fixture
def people(tmp_path: Path, forge: Path) -> Path:
    """Where people review and merge."""
    assert forge.is_dir()
    return tmp_path / "people"


@pytest.fixture
def works(tmp_path: Path, forge: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry, git={"remote": str(forge), "mode": "branch"})
    works.with_apps()
    works.publisher.refresh()
    yield works
    works.store.close()
    registry.stop()


def merge(people: Path, forge: Path, branch: str, *how: str) -> str:
    """Merge a branch as a forge does it; main's new head."""
    git(people, "fetch", "-q", "--prune")
    git(people, "checkout", "-q", "-B", "main", "origin/main")
    git(people, "merge", "-q", *(how or ("--no-ff", "-m", "Merge it")), f"origin/{branch}")
    if "--squash" in how:
        git(people, "commit", "-qm", "Squashed with words of our own")
    return push(people, forge)


def push(people: Path, forge: Path) -> str:
    (forge / "open").touch()
    git(people, "push", "-q", "origin", "main")
    (forge / "open").unlink()
    return git(people, "rev-parse", "HEAD").strip()


def branches(forge: Path) -> list[str]:
    return git(forge, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def test_a_request_waits_on_its_branch(works: Works, forge: Path, people: Path) -> None:
    """A request is pushed as a branch and says so; merged, it is published with its commit."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    waiting = works.request(answer)
    name = f"margrave/request-{answer['id']}"
    assert (waiting["state"], waiting["commit"], waiting["position"]) == ("publishing", None, None)
    assert waiting["branch"]["name"] == name
    assert branches(forge) == ["main", name]
    works.publisher.refresh()
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "publishing"
    head = merge(people, forge, name)
    works.publisher.refresh()
    done = works.request(answer)
    assert (done["state"], done["commit"]) == ("published", waiting["branch"]["commit"])
    with works.store.session() as session:
        key = deployments.find(session, answer["deployments"][0]["id"])
    assert key is not None
    assert key.in_git
    assert works.repository.head() == head


@pytest.mark.parametrize("how", [("--squash",), ("--ff-only",)])
def test_however_it_is_merged(
    works: Works, forge: Path, people: Path, how: tuple[str, ...]
) -> None:
    """Squashed under other words or fast-forwarded, and the branch deleted: it is published."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    name = works.request(answer)["branch"]["name"]
    head = merge(people, forge, name, *how)
    git(forge, "update-ref", "-d", f"refs/heads/{name}")
    works.publisher.refresh()
    done = works.request(answer)
    assert (done["state"], done["commit"]) == ("published", head)


def test_closed_without_a_merge(works: Works, forge: Path) -> None:
    """A branch that people delete ends its request as refused, and what it announced is DELETED."""
    answer = works.create("harbor")
    works.publisher.publish_all()
    git(forge, "update-ref", "-d", f"refs/heads/{works.request(answer)['branch']['name']}")
    works.publisher.refresh()
    refused = works.request(answer)
    assert refused["state"] == "refused"
    assert "closed without being merged" in refused["error"]["message"]
    with works.store.session() as session:
        key = deployments.find(session, answer["deployments"][0]["id"])
    assert key is not None
    assert key.state.value == "DELETED"


def test_cancelled_while_it_waits(works: Works, forge: Path) -> None:
    """A request that is taken back takes its branch away."""
    from controller.store import requests

    answer = works.create("harbor")
    works.publisher.publish_all()
    with works.store.write() as session:
        assert requests.cancel(session, answer["id"], works.clock())
    works.publisher.refresh()
    assert works.request(answer)["state"] == "cancelled"
    assert branches(forge) == ["main"]


def test_main_moves_below_a_branch(works: Works, forge: Path, people: Path) -> None:
    """What people change in the same document meanwhile is in the branch when it is merged."""
    one = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    merge(people, forge, works.request(one)["branch"]["name"])
    works.publisher.refresh()
    deployment = one["deployments"][0]
    answer = works.act("update", deployment["id"], version="1.1.0")
    works.publisher.publish_all()
    before = works.request(answer)["branch"]
    path = people / "deployments" / "harbor" / f"{deployment['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    raw["spec"]["parameters"]["greeting"]["value"] = "from grace"
    path.write_text(yaml_text.dump(raw))
    git(people, "commit", "-qam", "Greet otherwise")
    push(people, forge)
    works.publisher.refresh()
    after = works.request(answer)["branch"]
    assert (after["name"], after["commit"] != before["commit"]) == (before["name"], True)
    merge(people, forge, after["name"])
    works.publisher.refresh()
    assert works.request(answer)["state"] == "published"
    document = read_deployment(works.document(deployment))
    assert (document.version, document.values) == ("1.1.0", {"greeting": "from grace"})


def test_sites_wait_on_a_branch_too(works: Works, forge: Path, people: Path) -> None:
    """Changes of a site gather on its branch; merged, they hold; people's work is not covered."""
    landed = works.sites.pause("harbor", "audit", None, Caller(ADA))
    assert landed.branch == "margrave/site-harbor"
    more = works.sites.change("harbor", {"labels": {"floor": "2"}}, ADA)
    assert git(forge, "log", "--format=%s", f"main..{more.commit}").splitlines() == [
        "Change site harbor",
        "Pause site harbor",
    ]
    merge(people, forge, "margrave/site-harbor")
    works.publisher.refresh()
    with works.store.session() as session:
        assert documents.sites(session) == ["harbor"]
    again = works.sites.resume("harbor", Caller(ADA))
    assert again.commit is not None
    git(people, "fetch", "-q")
    git(people, "checkout", "-q", "-B", "mine", str(again.commit))
    git(people, "commit", "-q", "--allow-empty", "-m", "A person's")
    git(people, "push", "-q", "-f", "origin", "mine:margrave/site-harbor")
    with pytest.raises(Conflict, match="people work on the branch"):
        works.sites.drain("harbor", True, Caller(ADA))


def test_a_site_goes_when_that_is_merged(works: Works, forge: Path, people: Path) -> None:
    """A site that is removed is known until its document is gone from main."""
    works.sites.remove("harbor", ADA)
    works.publisher.refresh()
    with works.store.session() as session:
        assert documents.sites(session) == ["harbor"]
    merge(people, forge, "margrave/site-harbor")
    works.publisher.refresh()
    with works.store.session() as session:
        assert documents.sites(session) == []


def test_a_site_that_waits_is_not_told_as_done(works: Works, forge: Path, people: Path) -> None:
    """Adding and removing a site are answered with 202 and the branch that waits to be merged;
    what is written down says so too."""
    parts = assemble(works.settings, works.clock)
    token = {"id": "a", "name": "ada", "digest": token_hash("admin"), "role": Role.ADMIN}
    with parts.store.write() as session:
        more = {"sites": None, "created_by": "test", "created_at": works.clock()}
        access.add_token(session, {**token, **more})
    admin = Api(create_app(parts).test_client(), "admin")
    made = admin.post("/sites", json={"name": "depot"})
    assert (made.status_code, made.json["branch"]) == (202, "margrave/site-depot")
    assert made.json["token"]
    assert made.json["site"]["name"] == "depot"
    merge(people, forge, "margrave/site-depot")
    parts.publisher.refresh()
    gone = admin.delete("/sites/depot")
    assert (gone.status_code, gone.json["branch"]) == (202, "margrave/site-depot")
    assert admin.get("/sites/depot").status_code == 200
    merge(people, forge, "margrave/site-depot")
    parts.publisher.refresh()
    assert admin.get("/sites/depot").status_code == 404
    written = [one for one in admin.get("/audit").json["items"] if one["target"] == "depot"]
    assert {(one["action"], one["detail"]["branch"]) for one in written} == {
        ("site.create", "margrave/site-depot"),
        ("site.remove", "margrave/site-depot"),
    }
    parts.store.close()
