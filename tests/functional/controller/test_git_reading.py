"""Whatever people push, Git is read on: a commit or a document of theirs stops nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.publish import packing
from controller.publish.sites import Caller
from controller.store import deployments, fleet
from controller.store.freshness import Moment
from margrave import yaml_text
from margrave.errors import MargraveError
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import Works, git


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "forge.git")
    works = Works(tmp_path / "state", registry, git={"remote": str(tmp_path / "forge.git")})
    works.with_apps("harbor")
    yield works
    works.store.close()
    registry.stop()


@pytest.fixture
def clone(works: Works, tmp_path: Path) -> Path:
    """A person's clone of the forge, storefront at harbor in it."""
    works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(tmp_path / "forge.git"), "clone")
    return tmp_path / "clone"


def document(clone: Path) -> Path:
    return next((clone / "deployments" / "harbor").glob("*.yaml"))


def greeted(clone: Path, words: str) -> None:
    """Another greeting in the work tree."""
    raw = yaml_text.parse(document(clone).read_bytes()).value
    raw["spec"]["parameters"]["greeting"]["value"] = words
    document(clone).write_text(yaml_text.dump(raw))


def shown(works: Works, clone: Path) -> dict[str, Any]:
    with works.store.session() as session:
        key = deployments.find(session, document(clone).stem)
        assert key is not None
        return deployments.resource(session, key.key, Moment(works.clock()))


def at_site(works: Works, name: str) -> list[dict[str, Any]]:
    with works.store.session() as session:
        site = fleet.site(session, name, Moment(works.clock()))
    assert site is not None
    found: list[dict[str, Any]] = site["findings"]
    return found


@pytest.mark.parametrize(
    ("author", "message", "told"),
    [
        ("gr\x02ace\x01", "Greet", ("gr ace", None)),
        ("grace", "Greet\n\nMargrave-Actor: a\x01d\x02a\n", ("a d a", None)),
        ("grace", "Greet\n\nMargrave-Request: as I said\n", ("grace", None)),
        ("g" * 300, f"Greet\n\nMargrave-Request: {'1' * 300}\n", ("g" * 255, None)),
        ("grace", "Greet\n\nMargrave-Actor: ada\nMargrave-Actor: eve\n", ("ada", None)),
    ],
    ids=["a name", "a trailer", "a request that is none", "too long", "a trailer twice"],
)
def test_who_made_a_commit_may_be_called_anything(
    works: Works, clone: Path, author: str, message: str, told: tuple[str, None]
) -> None:
    """Control characters and endless words in a commit's name and trailers: it is read, the author
    is one line, and a request is one of ours or none."""
    greeted(clone, "moin")
    git(clone, "-c", f"user.name={author}", "commit", "-qam", message)
    git(clone, "push", "-q")
    works.publisher.refresh()
    found = shown(works, clone)
    assert found["parameters"]["greeting"] == "moin"
    assert (found["author"], found["request"]) == told


def test_a_commit_at_the_end_of_time_is_read(works: Works, clone: Path) -> None:
    """A committer whose clock is past the year 9999 is a committer all the same."""
    greeted(clone, "moin")
    git(clone, "commit", "-qam", "Greet from afar")
    raw = git(clone, "cat-file", "commit", "HEAD")
    late = "\n".join(
        line.rpartition(" ")[0].rpartition(" ")[0] + " 400000000000 +0000"
        if line.startswith("committer ")
        else line
        for line in raw.split("\n")
    )
    (clone / "late").write_text(late)
    made = git(clone, "hash-object", "-t", "commit", "-w", "--literally", "late").strip()
    git(clone, "reset", "-q", "--soft", made)
    git(clone, "push", "-q")
    works.publisher.refresh()
    assert shown(works, clone)["parameters"]["greeting"] == "moin"


def test_documents_that_no_row_has_room_for(works: Works, clone: Path) -> None:
    """A node and a version that are too long are findings of their documents, on every database,
    and what is right beside them is taken."""
    good = document(clone)
    raw = yaml_text.parse(good.read_bytes()).value
    for number, change in enumerate((("node", "n" * 100), ("version", "1" * 300))):
        one = yaml_text.parse(good.read_bytes()).value
        one["id"] = f"1111111{number}-2222-4333-8444-555555555555"
        if change[0] == "node":
            one["metadata"]["deviceId"] = f"harbor/{change[1]}"
        else:
            one["spec"]["x-margrave-extensions"]["version"] = change[1]
        good.with_name(f"{one['id']}.yaml").write_text(yaml_text.dump(one))
    raw["spec"]["parameters"]["greeting"]["value"] = "moin"
    good.write_text(yaml_text.dump(raw))
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Two that are too long")
    git(clone, "push", "-q")
    works.publisher.refresh()
    assert {one["pointer"] for one in at_site(works, "harbor")} == {
        "/metadata/deviceId",
        "/spec/x-margrave-extensions/version",
    }
    with works.store.session() as session:
        key = deployments.find(session, raw["id"])
        assert key is not None
        found = deployments.resource(session, key.key, Moment(works.clock()))
    assert found["parameters"]["greeting"] == "moin"


def test_a_path_that_is_no_text_is_a_finding(works: Works, clone: Path) -> None:
    """A file whose name is not UTF-8 is told at its site, in letters that can be shown."""
    greeted(clone, "moin")
    odd = document(clone).with_name("\udcff\x01.yaml")  # as Python names the byte 0xff
    odd.write_bytes(document(clone).read_bytes())
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Name a file oddly")
    git(clone, "push", "-q")
    works.publisher.refresh()
    assert [one["file"] for one in at_site(works, "harbor")] == [
        "deployments/harbor/\\xff\x01.yaml"
    ]
    odd.unlink()
    assert shown(works, clone)["parameters"]["greeting"] == "moin"
    git(clone, "commit", "-qam", "Take it away")
    git(clone, "push", "-q")
    works.publisher.refresh()
    assert at_site(works, "harbor") == []


def test_what_a_row_does_not_take_is_told_at_its_path(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that only the database finds wrong is a finding of its document; the documents that
    came with it are taken, and the branch is followed."""
    from controller.publish.said import Values

    given = Values.of

    def odd(self: Values, path: str, data: bytes) -> dict[str, Any]:
        found = given(self, path, data)
        return {**found, "profile": "\udc00"} if path.endswith(document(clone).name) else found

    greeted(clone, "moin")
    other = document(clone).with_name("11111111-2222-4333-8444-555555555555.yaml")
    text = document(clone).read_text().replace(document(clone).stem, other.stem)
    git(clone, "commit", "-qam", "Greet")
    (clone / "sites" / "quay.yaml").write_text("labels: {zone: north}\n")
    other.parent.with_name("quay").mkdir()
    other = other.parent.with_name("quay") / other.name
    other.write_text(text.replace("harbor/", "quay/").replace("storefront-at-harbor", "x"))
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "One more")
    git(clone, "push", "-q")
    monkeypatch.setattr(Values, "of", odd)
    works.publisher.refresh()
    (told,) = at_site(works, "harbor")
    assert told["file"] == f"deployments/harbor/{document(clone).name}"
    assert told["message"].startswith("the database does not take it")
    with works.store.session() as session:
        assert deployments.find(session, other.stem, "quay") is not None
    assert works.publisher.unread == ""


def test_a_commit_that_cannot_be_read_is_published_all_the_same(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was pushed stands, whatever fails behind it: requests are published, an edit is
    answered with its commit, and that Git is not read is told until it is."""
    from controller.publish.reader import Reader
    from tests.support.works import ADA

    def broken(*_: object, **__: object) -> None:
        raise ValueError("a defect in reading")

    with monkeypatch.context() as away:
        away.setattr(Reader, "follow", broken)
        answer = works.create("harbor", name="second")
        works.publisher.publish_all()
        done = works.request(answer)
        assert (done["state"], done["commit"]) == ("published", works.repository.head())
        assert "a defect in reading" in works.publisher.unread
        landed = works.sites.pause("harbor", "stocktaking", None, Caller(ADA))
        assert landed.commit == works.repository.head()
        with pytest.raises(ValueError, match="a defect"):
            works.publisher.refresh()
    works.publisher.refresh()
    assert works.publisher.unread == ""
    with works.store.session() as session:
        key = deployments.find(session, answer["deployments"][0]["id"])
    assert key is not None
    assert key.in_git


def test_a_repository_that_cannot_be_packed_publishes_on(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packing that fails is told, and ends no request."""

    def slow() -> None:
        raise MargraveError("git gc: no answer within 120 s")

    monkeypatch.setattr(packing, "EVERY", 1)
    monkeypatch.setattr(works.repository, "tidy", slow)
    answer = works.create("harbor", name="second")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"
    eventually(lambda: "no answer within" in works.publisher.unread, 20)


def test_no_request_waits_while_the_repository_is_packed(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packing may take minutes: requests are published meanwhile, and it is not begun twice."""
    begun, go_on = [], threading.Event()

    def slow() -> None:
        begun.append(works.repository.head())
        go_on.wait(60)

    monkeypatch.setattr(packing, "EVERY", 1)
    monkeypatch.setattr(works.repository, "tidy", slow)
    try:
        for name in ("second", "third"):
            answer = works.create("harbor", name=name)
            works.publisher.publish_all()
            assert works.request(answer)["state"] == "published"
        assert len(begun) == 1
    finally:
        go_on.set()
