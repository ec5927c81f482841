"""Each file of a head is its own failure domain: an error in one is a finding on that one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller import compose
from controller.publish import said
from controller.publish.publisher import Publisher
from controller.store import deployments, documents, fleet, taking
from controller.store.freshness import Moment
from margrave import yaml_text
from margrave.digest import File, of_files
from margrave.yaml_text import SIZE_LIMIT
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import Works, git

POISON = "poison"
OTHER = "11111111-2222-4333-8444-555555555555"
# A digit that str.isdigit accepts and int refuses, and a number that int refuses as too long.
ODD_KEYS = ["²", "9" * 5000]


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    """A controller whose repository is elsewhere: no hook refuses what is pushed there."""
    registry = FakeRegistry().start()
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "forge.git")
    settings: dict[str, Any] = {"git": {"remote": str(tmp_path / "forge.git")}}
    works = Works(tmp_path / "state", registry, **settings)
    works.with_apps("depot", "harbor")
    yield works
    works.store.close()
    registry.stop()


@pytest.fixture
def clone(works: Works, tmp_path: Path) -> Path:
    """A clone with storefront at harbor in it."""
    works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(tmp_path / "forge.git"), "clone")
    return tmp_path / "clone"


def deployment(clone: Path) -> Path:
    """The document of storefront at harbor."""
    return next((clone / "deployments" / "harbor").glob("*.yaml"))


def changed(clone: Path, path: Path, words: str, **more: Any) -> dict[str, Any]:
    """Another greeting and name in a copy of the document, written to the path."""
    raw: dict[str, Any] = yaml_text.parse(deployment(clone).read_bytes()).value
    raw["id"] = path.stem
    raw["spec"]["parameters"]["greeting"]["value"] = words
    raw["metadata"] |= {"deviceId": f"{path.parent.name}/*", **more}
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml_text.dump(raw))
    return raw


def push(clone: Path) -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "Change it")
    git(clone, "push", "-q")


def pause(clone: Path, site: str) -> None:
    """Pause a site as a person does, in Git."""
    (clone / "sites" / f"{site}.yaml").write_text("paused: {reason: stocktaking, by: grace}\n")


def site(works: Works, name: str) -> dict[str, Any]:
    with works.store.session() as session:
        found = fleet.site(session, name, Moment(works.clock()))
    assert found is not None
    return found


def shown(works: Works, identifier: str) -> dict[str, Any] | None:
    with works.store.session() as session:
        key = deployments.find(session, identifier)
        return key and deployments.resource(session, key.key, Moment(works.clock()))


def followed(works: Works) -> bool:
    """Return True when the head is known, and nothing waits to be read again."""
    with works.store.session() as session:
        known = documents.known_head(session)
    return known == works.repository.head() and works.publisher.unread == ""


@pytest.mark.parametrize("key", ODD_KEYS, ids=["a superscript", "5,000 digits"])
def test_a_document_with_an_odd_number(works: Works, clone: Path, key: str) -> None:
    """A document of an earlier generation with a parameter that is no number's name is refused
    with findings; the pause of another site in the same push is shown, also after a restart."""
    raw = changed(clone, deployment(clone), "moin")
    raw |= {"apiVersion": "deployment.margo/v1", "kind": "ApplicationDeployment"}
    raw["spec"]["parameters"][key] = 7
    deployment(clone).write_text(yaml_text.dump(raw))
    pause(clone, "depot")
    push(clone)
    works.publisher.refresh()
    assert site(works, "depot")["paused"]["reason"] == "stocktaking"
    (found, *_) = site(works, "harbor")["findings"]
    assert found["file"] == f"deployments/harbor/{raw['id']}.yaml"
    works.store.close()
    works.start()
    works.publisher.refresh()
    assert followed(works)
    answer = works.create("depot", name="second")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"


def test_a_component_that_breaks_its_reader(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a component whose ports cannot be found out, the deployment is taken all the same: runners
    apply it. A finding names the component."""
    read = compose.host_ports

    def broken(text: str, *more: Any) -> set[str]:
        if POISON in text:
            raise ValueError("invalid literal for int() with base 10: '²'")
        return read(text, *more)

    monkeypatch.setattr(compose, "host_ports", broken)
    folder = next((clone / "components").iterdir())
    text = (folder / "compose.yaml").read_bytes() + f"# {POISON}\n".encode()
    address = of_files({"compose.yaml": File(text)}).removeprefix("sha256:")
    raw = changed(clone, deployment(clone), "moin")
    part = raw["spec"]["deploymentProfile"]["components"][0]
    part["x-margrave-extensions"] = {"source": f"components/{address}"}
    (clone / "components" / address).mkdir()
    (clone / "components" / address / "compose.yaml").write_bytes(text)
    deployment(clone).write_text(yaml_text.dump(raw))
    push(clone)
    works.publisher.refresh()
    found = shown(works, raw["id"])
    assert found is not None
    assert found["parameters"]["greeting"] == "moin"
    (finding,) = site(works, "harbor")["findings"]
    assert "component storefront" in finding["message"]
    assert "int()" in finding["message"]
    assert followed(works)


def _break_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    read = said.deployment_values

    def broken(document: Any) -> dict[str, Any]:
        if document.name == POISON:
            raise RecursionError("maximum recursion depth exceeded")
        return read(document)

    monkeypatch.setattr(said, "deployment_values", broken)


def _break_values(monkeypatch: pytest.MonkeyPatch) -> None:
    read = said.deployment_values

    def broken(document: Any) -> dict[str, Any]:
        found = read(document)
        return {**found, "profile": {1, 2}} if document.name == POISON else found

    monkeypatch.setattr(said, "deployment_values", broken)


def _break_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    write = taking.take

    def broken(session: Any, files: Any, at: Any) -> None:
        write(session, files, at)
        if any(one.values and one.values["name"] == POISON for one in files):
            raise OverflowError("Python int too large to convert to SQLite INTEGER")

    monkeypatch.setattr(taking, "take", broken)


@pytest.mark.parametrize(
    "broken", [_break_columns, _break_values, _break_rows], ids=["reading", "binding", "writing"]
)
def test_a_document_that_breaks_the_reader(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """Whichever step fails over a document: it gets the finding, every file beside it is taken, and
    publishing goes on. Once the cause is gone, its next version clears the finding."""
    with monkeypatch.context() as patched:
        broken(patched)
        bad = clone / "deployments" / "harbor" / f"{OTHER}.yaml"
        changed(clone, bad, "moin", name=POISON)
        good = [f"2222222{number}-2222-4333-8444-555555555555" for number in range(5)]
        for number, identifier in enumerate(good):
            folder = clone / "deployments" / ("depot" if number % 2 else "harbor")
            changed(clone, folder / f"{identifier}.yaml", "moin", name=f"shop-{number}")
        pause(clone, "depot")
        push(clone)
        works.publisher.refresh()
        assert all(shown(works, identifier) for identifier in good)
        assert site(works, "depot")["paused"]["reason"] == "stocktaking"
        assert [one["file"] for one in site(works, "harbor")["findings"]] == [
            f"deployments/harbor/{OTHER}.yaml"
        ]
        assert followed(works)
        answer = works.create("depot", name="second")
        works.publisher.publish_all()
        assert works.request(answer)["state"] == "published"
        assert shown(works, answer["deployments"][0]["id"])
    changed(clone, bad, "moin moin", name=POISON)
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "Correct it")
    git(clone, "pull", "-q", "--rebase")
    git(clone, "push", "-q")
    works.publisher.refresh()
    assert site(works, "harbor")["findings"] == []
    assert shown(works, OTHER)


def test_a_site_that_breaks_the_reader(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error over a site's document, or over its event, is a finding of the site; all other sites
    are up to date."""
    put, tell = documents.put_site, taking.wanted_commits

    def broken_row(session: Any, name: str, *more: Any) -> None:
        put(session, name, *more)
        if name == "harbor":
            raise OverflowError("date value out of range")

    def broken_event(session: Any, wanted: Any, at: Any) -> None:
        if "harbor" in wanted:
            raise OverflowError("date value out of range")
        tell(session, wanted, at)

    for where, what, step in (
        (documents, "put_site", broken_row),
        (taking, "wanted_commits", broken_event),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(where, what, step)
            (clone / "sites" / "harbor.yaml").write_text(f"labels: {{zone: {what}}}\n")
            (clone / "sites" / "depot.yaml").write_text(f"labels: {{zone: {what}}}\n")
            push(clone)
            works.publisher.refresh()
        assert site(works, "depot")["labels"] == {"zone": what}
        (finding,) = site(works, "harbor")["findings"]
        assert finding["file"] == "sites/harbor.yaml"
        assert "date value out of range" in finding["message"]
        assert followed(works)
    head = works.repository.head()
    assert site(works, "depot")["wanted_commit"] == head


def test_a_file_that_is_too_large_is_not_read(works: Works, clone: Path) -> None:
    """A document beyond the limit is a finding, and takes no memory; other files of a site are not
    read at all."""
    (clone / "deployments" / "harbor" / f"{OTHER}.yaml").write_bytes(b"#" * (SIZE_LIMIT + 1))
    (clone / "secrets" / "harbor").mkdir(parents=True)
    (clone / "secrets" / "harbor" / "words.age").write_bytes(b"#" * (SIZE_LIMIT * 2))
    pause(clone, "depot")
    push(clone)
    read: list[int] = []
    given = works.repository.git.blobs

    def counted(*more: Any) -> dict[str, bytes | None]:
        found = given(*more)
        read.extend(len(data) for data in found.values() if data)
        return found

    works.repository.git.blobs = counted  # type: ignore[method-assign]
    works.publisher.refresh()
    assert max(read) <= SIZE_LIMIT
    assert site(works, "depot")["paused"]
    (finding,) = site(works, "harbor")["findings"]
    assert finding["message"] == f"is larger than {SIZE_LIMIT} bytes"


def test_authors_that_cannot_be_read(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents are taken also when their authors cannot be read."""

    def broken(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(works.repository, "touches", broken)
    pause(clone, "depot")
    push(clone)
    works.publisher.refresh()
    assert site(works, "depot")["paused"]
    assert followed(works)


def test_publishing_goes_on_while_nothing_can_be_read(
    works: Works, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect that stops all reading does not stop the publisher's thread from publishing."""

    def broken(_: object) -> None:
        raise ValueError("a defect in reading")

    monkeypatch.setattr(Publisher, "refresh", broken)
    answer = works.create("depot", name="second")
    stop = threading.Event()
    thread = threading.Thread(target=works.publisher.run, args=(stop,))
    thread.start()
    try:
        eventually(lambda: works.request(answer)["state"] == "published", 20)
    finally:
        stop.set()
        works.publisher.wake()
        thread.join()
