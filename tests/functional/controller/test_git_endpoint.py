"""The deployments repository over HTTP: who may fetch and push, and what may come in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from controller import git_endpoint
from controller.access.identity import Identity, Role
from controller.publish.shelving import shelve
from controller.store import deployments
from controller.store.freshness import Moment
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from tests.support.listening import listening
from tests.support.registry import FakeRegistry
from tests.support.works import Works, git

WHO = {
    "grace-token": Identity("grace", Role.OPERATOR),
    "hanna-token": Identity("hanna", Role.OPERATOR, frozenset({"harbor"})),
    "vera-token": Identity("vera", Role.VIEWER),
    "harbor-token": Identity("harbor", Role.SITE, frozenset({"harbor"})),
}


class Served(Works):
    """The working half with its repository at a URL."""

    url: str

    def remote(self, token: str) -> str:
        return self.url.replace("//", f"//any:{token}@") + "/git/deployments.git"

    def clone(self, folder: Path, token: str = "grace-token") -> Path:
        git(folder.parent, "clone", "-q", self.remote(token), str(folder))
        return folder


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    registry = FakeRegistry().start()
    works = Served(tmp_path / "state", registry)
    works.with_apps("depot", "harbor")
    app = Flask(__name__)
    app.register_blueprint(
        git_endpoint.blueprint(
            works.settings.repository,
            WHO.get,
            lambda _: works.publisher.refresh(),
            lambda: shelve(works.store, works.settings.state.dir / "shelf"),
        )
    )
    with listening(app) as server:
        works.url = f"http://127.0.0.1:{server.server_port}"
        yield works
    works.store.close()
    registry.stop()


def test_tokens_decide(served: Served, tmp_path: Path) -> None:
    """Site and viewer tokens fetch, operators push, nobody comes in without one."""
    assert "fatal" in git(tmp_path, "ls-remote", served.remote("wrong"), ok=False)
    for token in ("vera-token", "harbor-token"):
        clone = served.clone(tmp_path / token, token)
        (clone / "note.txt").write_text("hello\n")
        git(clone, "add", ".")
        git(clone, "commit", "-qm", "Say hello")
        assert "403" in git(clone, "push", ok=False)
    clone = served.clone(tmp_path / "grace")
    (clone / "note.txt").write_text("hello\n")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Say hello")
    git(clone, "push", "-q")
    assert served.repository.head() == git(clone, "rev-parse", "HEAD").strip()


def test_bad_documents_stay_outside(served: Served, tmp_path: Path) -> None:
    """A push with errors is refused whole, and the pusher reads path, finding and cure."""
    clone = served.clone(tmp_path / "clone")
    folder = clone / "deployments" / "harbor"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("id: 5\n")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Break it")
    before = served.repository.head()
    told = git(clone, "push", ok=False)
    assert "deployments/harbor/x.yaml:1:1: /spec: is missing (add it)" in told
    assert served.repository.head() == before


def test_components_hold_what_they_say(served: Served, tmp_path: Path) -> None:
    """A component under a wrong digest, or one that is named and not there, is refused."""
    one = served.create("harbor", version="1.0.0")["deployments"][0]
    served.publisher.publish_all()
    clone = served.clone(tmp_path / "clone")
    for file in (clone / "components").rglob("compose.yaml"):
        file.write_text(file.read_text() + "# changed\n")
    git(clone, "commit", "-qam", "Change a component in place")
    assert "holds content with the digest" in git(clone, "push", ok=False)
    git(clone, "reset", "-q", "--hard", "origin/main")
    path = clone / "deployments" / "harbor" / f"{one['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    part = raw["spec"]["deploymentProfile"]["components"][0]["x-margrave-extensions"]
    part["source"] = "components/" + "0" * 64
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-qam", "Name what is not there")
    assert "which is not in the repository" in git(clone, "push", ok=False)
    git(clone, "reset", "-q", "--hard", "origin/main")
    git(clone, "rm", "-q", "-r", "components")
    git(clone, "commit", "-qm", "Take away what is named")
    told = git(clone, "push", ok=False)
    assert f"deployments/harbor/{one['id']}.yaml: names components/" in told


def test_values_are_checked_where_the_application_is_known(served: Served, tmp_path: Path) -> None:
    """A value outside its application's schema is refused with the line; a secret's name, a
    parameter of the author's own and an application that nobody knows are taken as they are."""
    one = served.create("harbor", version="1.0.0")["deployments"][0]
    served.publisher.publish_all()
    clone = served.clone(tmp_path / "clone")
    path = clone / "deployments" / "harbor" / f"{one['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    parameters = raw["spec"]["parameters"]
    parameters["greeting"]["value"] = 7
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-qam", "A number for a greeting")
    told = git(clone, "push", ok=False)
    assert f"deployments/harbor/{one['id']}.yaml:" in told
    assert "/spec/parameters/greeting/value" in told
    raw["spec"]["applicationId"] = "nobody-knows"
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-q", "--amend", "-am", "Of an application that nobody knows")
    git(clone, "push", "-q")
    raw["spec"]["applicationId"] = "storefront"
    parameters["greeting"]["value"] = "secret://words"
    parameters["own"] = {**parameters["greeting"], "value": 7}
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-qam", "A secret, and a parameter of my own")
    git(clone, "push", "-q")


def test_links_and_rewriting_are_refused(served: Served, tmp_path: Path) -> None:
    """Symbolic links do not get in, and main only moves forward."""
    clone = served.clone(tmp_path / "clone")
    (clone / "sites" / "harbor.yaml").unlink()
    (clone / "sites" / "harbor.yaml").symlink_to("/etc/passwd")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Link out")
    assert "is a link" in git(clone, "push", ok=False)
    git(clone, "reset", "-q", "--hard", "HEAD~2")
    (clone / "other.txt").write_text("another past\n")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Another past")
    told = git(clone, "push", "--force", ok=False)
    assert "rejected" in told
    assert "cannot be deleted" in git(clone, "push", "origin", ":main", ok=False)


def test_a_person_and_the_controller_take_turns(served: Served, tmp_path: Path) -> None:
    """A person edits and pushes; a later change of something else does not undo it."""
    answer = served.create("harbor", "depot", version="1.0.0")
    served.publisher.publish_all()
    one = next(one for one in answer["deployments"] if one["site"] == "harbor")
    clone = served.clone(tmp_path / "clone")
    path = clone / "deployments" / "harbor" / f"{one['id']}.yaml"
    raw = yaml_text.parse(path.read_bytes()).value
    raw["spec"]["parameters"]["greeting"]["value"] = "from grace"
    path.write_text(yaml_text.dump(raw))
    git(clone, "commit", "-qam", "Greet otherwise")
    git(clone, "push", "-q")
    with served.store.session() as session:
        key = deployments.find(session, one["id"])
        assert key is not None
        shown = deployments.resource(session, key.key, Moment(served.clock()))
    assert (shown["parameters"], shown["author"]) == ({"greeting": "from grace"}, "Grace")
    served.act("update", one["id"], version="1.1.0")
    served.publisher.publish_all()
    document = read_deployment(served.document(one))
    assert (document.version, document.values) == ("1.1.0", {"greeting": "from grace"})


def test_twenty_requests_beside_a_second_author(served: Served, tmp_path: Path) -> None:
    """While somebody pushes all the time, twenty requests become twenty commits, nothing lost."""
    clone = served.clone(tmp_path / "clone")
    stop = threading.Event()
    pushed: list[str] = []

    def author() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            (clone / f"note-{number}.txt").write_text(f"{number}\n")
            git(clone, "add", ".")
            git(clone, "commit", "-qm", f"Note {number}")
            while "rejected" in git(clone, "push", ok=False):
                git(clone, "pull", "-q", "--rebase")
            pushed.append(f"note-{number}.txt")

    thread = threading.Thread(target=author)
    thread.start()
    answers = []
    try:
        for number in range(20):
            answers.append(served.create("harbor", "depot", name=f"shop-{number}"))
            served.publisher.publish_all()
    finally:
        stop.set()
        thread.join(timeout=60)
    states = {served.request(answer)["state"] for answer in answers}
    assert states == {"published"}
    head = served.repository.head()
    assert head is not None
    log = served.repository.git.text("log", "--format=%B%x00%P", head)
    for answer in answers:
        assert log.count(f"Margrave-Request: {answer['id']}\n") == 1
    assert all(" " not in entry.split("\n")[0] for entry in log.split("\0")[1:]), "linear"
    files = served.repository.git.text("ls-tree", "-r", "--name-only", head).splitlines()
    assert pushed
    assert set(pushed) <= set(files)
    assert len([name for name in files if name.startswith("deployments/")]) == 40


def test_a_name_that_does_things_to_a_screen_stays_outside(served: Served, tmp_path: Path) -> None:
    """Commits whose author or trailers hold control characters are refused, with what helps."""
    clone = served.clone(tmp_path / "clone")
    for author, message in (("gr\x02ace", "Note"), ("grace", "Note\n\nMargrave-Actor: a\x1b[2J\n")):
        (clone / "note.txt").write_text(author + message)
        git(clone, "add", ".")
        git(clone, "-c", f"user.name={author}", "commit", "-qm", message)
        told = git(clone, "push", ok=False)
        assert "holds a control character in a person's name or in a trailer of ours" in told
        git(clone, "reset", "-q", "--hard", "origin/main")


def test_a_token_of_some_sites_pushes_to_those_alone(served: Served, tmp_path: Path) -> None:
    """An operator for one site changes it and what is no site's; whatever it writes, changes or
    takes away of another one is refused, path by path."""
    clone = served.clone(tmp_path / "clone", "hanna-token")
    (clone / "sites" / "harbor.yaml").write_text("labels: {zone: north}\n")
    (clone / "README").write_text("what stands here\n")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Name its zone")
    git(clone, "push", "-q")
    assert served.repository.head() == git(clone, "rev-parse", "HEAD").strip()
    secret = clone / "secrets" / "depot" / "words.age"
    for path, change in (
        ("sites/depot.yaml", lambda: (clone / "sites" / "depot.yaml").write_text("drain: true\n")),
        ("sites/depot.yaml", (clone / "sites" / "depot.yaml").unlink),
        ("sites/quay.yaml", lambda: (clone / "sites" / "quay.yaml").write_text("{}\n")),
        ("secrets/depot/words.age", lambda: (secret.parent.mkdir(parents=True),
                                             secret.write_text("sealed\n"))),
    ):  # fmt: skip
        change()
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", "Elsewhere")
        told = git(clone, "push", ok=False)
        site = Path(path).stem if path.startswith("sites") else "depot"
        assert f"{path}: is of the site {site}, which is not yours" in told
        assert "the token is for harbor" in told
        git(clone, "reset", "-q", "--hard", "origin/main")
