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
def forge(needs_lab: None, tmp_path: Path) -> Iterator[Forge]:
    """Serve a forge with an empty repository."""
    with gitea.served(tmp_path / "forge") as forge:
        forge.make_repository(NAME)
        yield forge


def test_own_forge(controller_reader: Reader, forge: Forge) -> None:
    """The controller publishes there, a runner follows, people check and rewrite what is there."""
    reader = controller_reader
    token = reader.folder / "git-token"
    reader.words |= {
        "https://git.example/edge/deployments.git": forge.https_remote(NAME),
        'username = "margrave"': f'username = "{forge.USER}"',
        "/etc/margrave/git-token": str(token),
    }
    # The lab's forge has a certificate of its own.
    for process in ("controller", "runner"):
        reader.settings[process]["MARGRAVE_GIT__CA_FILE"] = str(forge.ca_file)
    reader.configure(reader.controller_file, TOML)
    reader.stop("controller")
    assert str(token) in reader.refused_start("controller")

    token.write_text("wrong\n")
    reader.start("controller")
    reader.type("margrave site add harbor")
    eventually(lambda: _waits(reader), 60, "the request waits, with the forge's reason")
    token.write_text(f"{forge.PASSWORD}\n")
    reader.restart("controller")
    clone = _clone(forge, reader.folder)
    eventually(lambda: "harbor" in _pulled(clone), 60, "the site is in the forge")

    _follow_with_a_runner(reader, forge)
    _check_documents(reader, clone)
    _rewrite_history(reader, clone)
    assert unexecuted("own-forge", reader.executed) == []


def _waits(reader: Reader) -> bool:
    shown = reader.type("margrave doctor", None) + reader.type("margrave repository show")
    return "refuse" in shown or "uthenticat" in shown


def _clone(forge: Forge, folder: Path) -> Path:
    """Return a person's clone, in the folder that the page calls `deployments/`."""
    clone = folder / "deployments"
    url = forge.https_remote(NAME).replace("https://", f"https://{forge.USER}:{_quoted(forge)}@")
    _git(folder, "-c", f"http.sslCAInfo={forge.ca_file}", "clone", "-q", url, str(clone))
    _git(clone, "config", "http.sslCAInfo", str(forge.ca_file))
    _git(clone, "config", "user.name", "ann")
    _git(clone, "config", "user.email", "ann@example.com")
    return clone


def _quoted(forge: Forge) -> str:
    return forge.PASSWORD.replace(" ", "%20")


def _pulled(clone: Path) -> str:
    _git(clone, "fetch", "-q")
    heads = _git(clone, "branch", "-r")
    if "origin/main" not in heads:
        return ""
    _git(clone, "checkout", "-q", "-B", "main", "origin/main")
    return _git(clone, "ls-files")


def _follow_with_a_runner(reader: Reader, forge: Forge) -> None:
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
    eventually(lambda: "stocktaking" in reader.type("margrave runner status -o json"), 120,
               "the forge's webhook tells the runner")  # fmt: skip
    reader.type("margrave site resume harbor")


def _check_documents(reader: Reader, clone: Path) -> None:
    """Lint has no finding; a document that is wrong ends with 1 and its place."""
    _pulled(clone)
    assert json.loads(reader.type(LINT)) == []
    document = clone / "sites/harbor.yaml"
    whole = document.read_text()
    document.write_text(f"{whole}window: []\n")
    [finding] = json.loads(reader.type(LINT, 1).partition("\n]")[0] + "\n]")
    assert "sites/harbor.yaml" in json.dumps(finding) and "windows" in json.dumps(finding)
    document.write_text(whole)
    assert "gone/" in reader.type(LINT.replace("deployments/", "gone/"), 2)


def _rewrite_history(reader: Reader, clone: Path) -> None:
    """Everything stops, and goes on from the commit that is named, and from no other."""
    eventually(lambda: _is_resumed(clone), 60, "everything is published")
    old = _git(clone, "rev-parse", "HEAD").strip()
    _git(clone, "commit", "-q", "--amend", "--no-edit", "--reset-author", "-m", "Rewritten")
    _git(clone, "push", "-q", "--force", "origin", "main")
    new = _git(clone, "rev-parse", "HEAD").strip()
    eventually(lambda: not reader.is_ready("controller"), 120, "the controller stops")
    history = httpx.get(f"{reader.url}/readyz").text
    shown = reader.type("margrave repository show")
    assert new[:12] in shown, (history, shown)

    page_commit = ACCEPT.split()[-1]
    assert "y" in reader.type(ACCEPT, 1, answer="n\n")
    unknown = reader.type(ACCEPT, 5, more="--yes")
    assert page_commit[:12] in unknown and new[:12] in unknown, unknown
    assert "margrave" in reader.type(SITE_ACCEPT, 3, more="--yes")
    reader.words[page_commit] = new
    reader.type(ACCEPT, more="--yes")
    eventually(lambda: reader.is_ready("controller"), 120, "the controller goes on")
    reader.type("margrave runner once")
    assert "halted" in reader.type("margrave runner status")
    reader.type(SITE_ACCEPT, more="--yes")
    eventually(lambda: _applied(reader) == new, 120, "the site goes on")
    kept = reader.folder / "srv/state/git/remote.git"
    assert old in _git(kept, "for-each-ref", "refs/kept")


def _is_resumed(clone: Path) -> bool:
    _pulled(clone)
    return "stocktaking" not in (clone / "sites/harbor.yaml").read_text()


def _applied(reader: Reader) -> str:
    with reader.api() as api:
        return str(api.get("/sites/harbor").json()["applied_commit"])


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"git {words}: {done.stderr}"
    return done.stdout
