"""`docs/howto/own-forge.md` with a real Gitea: moved there, checked in CI, a history rewritten."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support import gitea
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.forge import Forge
    from tests.integration.docs.reader import Reader

pytestmark = pytest.mark.full

PAGE = Page("own-forge")
[TOML] = PAGE.texts("toml")
LINT = PAGE.line(" lint ")
ACCEPT, SITE_ACCEPT = PAGE.lines(" accept ")
NAME = "deployments"


@pytest.fixture
def forge(needs_lab: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """Serve a forge with an empty repository; Git of this machine believes its certificate."""
    with gitea.served(tmp_path / "forge") as forge:
        forge.make_repository(NAME)
        monkeypatch.setenv("GIT_SSL_CAINFO", str(forge.ca_file))
        yield forge


def test_own_forge(controller_reader: Reader, forge: Forge) -> None:
    """The controller publishes there, a runner follows, people check and rewrite documents."""
    reader = controller_reader
    token = reader.folder / "git-token"
    reader.words |= {
        "https://git.example/edge/deployments.git": forge.https_remote(NAME),
        'username = "margrave"': f'username = "{forge.USER}"',
        "/etc/margrave/git-token": str(token),
    }
    _know_the_forge(reader, forge)
    reader.type("margrave site add harbor")
    reader.stop("controller")
    reader.type(PAGE.line(" push "))
    reader.configure(reader.controller_file, TOML)
    assert str(token) in reader.refused_start("controller")

    token.write_text("wrong\n")
    reader.start("controller")
    reader.type("margrave site pause harbor --reason moving")
    eventually(lambda: _refused_by_the_forge(reader), 60, "what waits names the forge's reason")
    token.write_text(f"{forge.PASSWORD}\n")
    reader.restart("controller")
    clone = _clone(forge, reader.folder)
    eventually(lambda: "moving" in _site(clone), 60, "the pause is in the forge")
    reader.type("margrave site resume harbor")

    _follow_with_a_runner(reader, forge, clone)
    _check_documents(reader, clone)
    _rewrite_history(reader, clone)
    assert unexecuted("own-forge", reader.executed) == []


def _know_the_forge(reader: Reader, forge: Forge) -> None:
    """Name the forge's certificate, and give the reader's Git a login there."""
    for process in ("controller", "runner"):
        reader.settings[process]["MARGRAVE_GIT__CA_FILE"] = str(forge.ca_file)
    login = _with_login(forge).rpartition("/")[0].rpartition("/")[0]
    (reader.home / ".git-credentials").write_text(f"{login}\n")
    (reader.home / ".gitconfig").write_text("[credential]\n\thelper = store\n")


def _refused_by_the_forge(reader: Reader) -> bool:
    shown = reader.type("margrave repository show")
    assert "Authentication failed" in shown and "git.remote" in shown, shown
    return True


def _clone(forge: Forge, folder: Path) -> Path:
    """Return a person's clone, in the folder that the page calls `deployments/`."""
    clone = folder / "deployments"
    _git(folder, "clone", "-q", _with_login(forge), str(clone))
    _git(clone, "config", "user.name", "ann")
    _git(clone, "config", "user.email", "ann@example.com")
    return clone


def _with_login(forge: Forge) -> str:
    login = f"{forge.USER}:{forge.PASSWORD.replace(' ', '%20')}"
    return forge.https_remote(NAME).replace("https://", f"https://{login}@")


def _site(clone: Path) -> str:
    """Return the site's document as it is in the forge now."""
    _git(clone, "fetch", "-q")
    _git(clone, "checkout", "-q", "-B", "main", "origin/main")
    return (clone / "sites/harbor.yaml").read_text()


def _follow_with_a_runner(reader: Reader, forge: Forge, clone: Path) -> None:
    """A runner reads the same remote; it takes commits of the controller's key alone."""
    public = (reader.folder / "srv/state/keys/signing.pub").read_text()
    signers = reader.folder / "allowed_signers"
    signers.write_text(f"controller@example.com {public}")
    text = (
        f'[site]\nname = "harbor"\n[controller]\nurl = "{reader.url}"\ntoken = "…"\n'
        f'[git]\nremote = "{forge.https_remote(NAME)}"\nusername = "{forge.USER}"\n'
        f'password = "{forge.PASSWORD}"\nallowed_signers = "{signers}"\n'
        '[poll]\ninterval = "600s"\n[hooks]\nsecrets = ["a webhook\'s secret"]\n'
    )
    reader.write(reader.runner_file, text)
    reader.start("runner")
    eventually(lambda: "fresh" in reader.type("margrave site list"), 60, "the site reports")
    hook = f"http://127.0.0.1:{reader.ports['runner']}/hooks/git"
    forged = httpx.post(hook, content=b"{}", headers={"X-Gitea-Signature": "0" * 64})
    assert forged.status_code == 401
    forge.add_webhook(NAME, hook, "a webhook's secret")
    reader.type("margrave site pause harbor --reason stocktaking")
    eventually(lambda: "stocktaking" in _site(clone), 60, "the pause is in the forge")
    paused = _git(clone, "rev-parse", "HEAD").strip()
    eventually(
        lambda: _runner_commit(reader) == paused, 120, "the forge's webhook notifies the runner"
    )
    reader.type("margrave site resume harbor")


def _check_documents(reader: Reader, clone: Path) -> None:
    """Lint has no finding; a document that is wrong ends with 1 and its place."""
    eventually(lambda: "stocktaking" not in _site(clone), 60, "everything is published")
    assert json.loads(reader.type(LINT)) == []
    document = clone / "sites/harbor.yaml"
    whole = document.read_text()
    document.write_text("window: []\n")
    found = reader.type(LINT, 1)
    assert "sites/harbor.yaml" in found and "windows" in found, found
    document.write_text(whole)
    assert "does not exist" in reader.type(LINT.replace("deployments/", "gone/"), 3)


def _rewrite_history(reader: Reader, clone: Path) -> None:
    """Everything stops, and goes on from the commit that is named, and from no other."""
    old = _git(clone, "rev-parse", "HEAD").strip()
    _git(clone, "reset", "-q", "--hard", "HEAD~1")
    _git(clone, "push", "-q", "--force", "origin", "main")
    new = _git(clone, "rev-parse", "HEAD").strip()
    eventually(lambda: new[:12] in _history(reader), 120, "the controller stops")
    assert old[:12] in _history(reader)
    assert new[:12] in reader.type("margrave repository show")

    page_commit = ACCEPT.split()[-1]
    assert "not confirmed" in reader.type(ACCEPT, 1, answer="n\n")
    unknown = reader.type(ACCEPT, 5, more="--yes")
    assert page_commit[:12] in unknown and new[:12] in unknown, unknown
    assert "there is no commit" in reader.type(SITE_ACCEPT, 3, more="--yes")
    reader.words[page_commit] = new
    reader.type(ACCEPT, more="--yes")
    eventually(lambda: not _history(reader), 120, "the controller goes on")
    reader.type("margrave runner once")
    assert "halted" in reader.type("margrave runner status")
    reader.type(SITE_ACCEPT, more="--yes")
    eventually(lambda: _applied(reader) == new, 120, "the site goes on")
    kept = reader.folder / "srv/state/git/remote.git"
    eventually(lambda: old in _git(kept, "for-each-ref", "refs/kept"), 60, "the old commit stays")


def _history(reader: Reader) -> str:
    """Return the problem that `/readyz` reports about the history."""
    checks = httpx.get(f"{reader.url}/readyz").json()["checks"]
    [check] = (check for check in checks if check["name"] == "history")
    return "" if check["ok"] else str(check["detail"])


def _runner_commit(reader: Reader) -> str:
    status = json.loads(reader.type("margrave runner status -o json"))
    return str(status["site"]["applied_commit"])


def _applied(reader: Reader) -> str:
    with reader.api() as api:
        return str(api.get("/sites/harbor").json()["applied_commit"])


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"git {words}: {done.stderr}"
    return done.stdout
