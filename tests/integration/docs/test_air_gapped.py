"""`docs/howto/air-gapped.md`: a registry with a login, Git on a disk, and no controller at last."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.integration.docs.reader import ROOT, start_of_site
from tests.support.private_registry import PASSWORD, READ_AGAIN, SETTINGS, USER, PrivateRegistry
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("air-gapped")
LOGIN, ADDRESS, GIT = PAGE.texts("toml")
ONCE, STATUS = PAGE.lines()
ADD = "margrave node add --site harbor --yes --identity ~/.ssh/id_ed25519 press-1 192.0.2.17"


@pytest.fixture(scope="module")
def registry(reader: Reader, lab: Lab) -> Iterator[PrivateRegistry]:
    """Serve a registry with a password; on the node `registry.example` leads to it."""
    registry = PrivateRegistry(lab, reader.folder)
    registry.start()
    host = _host(registry)
    plain = f'[[registry]]\\nlocation = "{host}"\\ninsecure = true\\n'  # the lab's has no TLS
    lab.ssh(box.NODE, f"echo '{lab.gateway} registry.example' >> /etc/hosts", check=True)
    lab.ssh(box.NODE, f"printf '{plain}' > {SETTINGS} && {READ_AGAIN}", check=True)
    yield registry
    lab.ssh(box.NODE, f"sed -i '/registry.example/d' /etc/hosts; rm -f {SETTINGS}; {READ_AGAIN}")
    assert registry.process is not None
    registry.process.terminate()
    registry.process.wait(timeout=20)


def _host(registry: PrivateRegistry) -> str:
    """Return the name of the registry with its port, for it does not have that of HTTPS."""
    return f"registry.example:{registry.address.rpartition(':')[2]}"


@pytest.fixture(scope="module")
def site(reader: Reader, registry: PrivateRegistry, lab: Lab) -> Reader:
    """Return a reader with a site whose application names images of `registry.example`."""
    apps = reader.folder / "apps"
    shutil.copytree(ROOT / "examples/apps/storefront", apps / "storefront")
    for path in apps.rglob("compose.yaml"):
        text = path.read_text().replace("registry.margrave.lab:5000", _host(registry))
        path.write_text(text)
    del reader.settings["controller"]["MARGRAVE_REGISTRIES__JSON"]
    reader.words |= {
        "https://git.example/apps.git": str(apps),
        '"registry.example"': f'"{_host(registry)}"',
        'username = "harbor"\npassword_file': f'username = "{USER}"\npassword_file',
        # The lab's registry speaks plain HTTP.
        '"192.0.2.20:5000"': f'"{lab.registry_address}"\ninsecure = true',
        "/srv/git": str(reader.folder / "git"),
        "/etc/margrave/allowed_signers": str(reader.folder / "allowed_signers"),
    }
    reader.follow(start_of_site())
    reader.type(ADD)
    return reader


def test_a_registry_at_the_site(site: Reader, lab: Lab) -> None:
    """The controller reaches it at another address; the runner hands its login on to nodes."""
    plan = site.type("margrave deployment plan storefront --site harbor")
    assert "registry.example" in plan and "[[registries]]" in plan, plan
    waited = site.type("margrave deploy storefront@1.0.0 --site harbor --wait --timeout 20s", 124)
    assert "registry.example" in waited, waited
    update = site.type("margrave deployment update storefront --version 1.1.0", 5)
    assert "margrave deployment explain storefront" in update
    for line, code in (
        ("margrave deployment show storefront", 0),
        ("margrave deployment explain storefront", 0),
        ("margrave doctor", 1),
    ):
        eventually(
            lambda line=line, code=code: "registry.example" in site.type(line, code),
            60,
            f"{line} names the registry",
        )
    site.configure(site.controller_file, ADDRESS)
    site.restart("controller")

    site.configure(site.runner_file, LOGIN)
    refused = _refused_start(site)
    assert "registry.password" in refused, refused
    password = site.folder / "registry.password"
    password.write_text(f"not {PASSWORD}\n")
    password.chmod(0o600)
    site.start("runner")
    eventually(lambda: "registry" in _error(site), 180, "the wrong login is reported")
    assert box.version(lab) == ""
    password.write_text(f"{PASSWORD}\n")
    site.restart("runner")
    site.type("margrave deployment retry storefront --wait")
    assert box.version(lab) == "1.0.0"


def _refused_start(site: Reader) -> str:
    site.stop("runner")
    return site.refused_start("runner")


def _error(site: Reader) -> str:
    with site.api() as api:
        [deployment] = api.get("/deployments").json()["items"]
        placements = api.get(f"/deployments/{deployment['id']}/placements").json()["items"]
    return json.dumps([placement["error"] for placement in placements])


def test_git_on_a_disk(site: Reader, lab: Lab) -> None:
    """Without a controller the runner follows what is carried in, if a trusted key signed it."""
    bare = site.folder / "git/deployments.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    site.stop("runner")
    site.type("margrave deployment update storefront --version 1.1.0")
    own = site.folder / "srv/state/git/deployments.git"
    eventually(lambda: "1.1.0" in _wanted(own), 60, "the update is published")
    site.stop("controller")

    state, login = site.runner_file.read_text(), LOGIN
    site.write(site.runner_file, GIT)
    site.configure(site.runner_file, login)
    assert "[controller]" in state
    signers = site.folder / "allowed_signers"
    _carry(own, bare)
    site.start("runner")
    eventually(lambda: str(signers) in site.type(STATUS, more="-o json"), 60, "the file is missed")
    assert box.version(lab) == "1.0.0"
    signers.write_text(_signer(site.folder / "srv/state/keys/signing.pub"))
    site.type(ONCE)
    assert box.version(lab) == "1.1.0"
    status = site.type(STATUS)
    assert "1.1.0" in status and "storefront" in status

    _push_without_a_signature(site.folder, bare)
    site.type(ONCE)
    refused = site.type(STATUS, more="-o json")
    assert "sign" in refused, refused
    assert box.version(lab) == "1.1.0"
    site.stop("runner")
    assert "margrave runner serve" in site.type(ONCE, 6)
    assert "margrave runner serve" in site.type(STATUS, 6)
    assert unexecuted("air-gapped", site.executed) == []


def _wanted(repository: Path) -> str:
    words = ["git", "-C", str(repository), "grep", "-h", "1.1.0", "main", "--", "deployments"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def _signer(public: Path) -> str:
    return f"controller@example.com {public.read_text()}"


def _carry(source: Path, target: Path) -> None:
    subprocess.run(["git", "-C", str(source), "push", "-q", str(target), "main"], check=True)


def _push_without_a_signature(folder: Path, bare: Path) -> None:
    clone = folder / "carried"
    subprocess.run(["git", "clone", "-q", str(bare), str(clone)], check=True)
    [document] = (clone / "deployments").rglob("*.yaml")
    document.write_text(document.read_text().replace("value: hello", "value: ahoy"))
    named = ["-c", "user.name=eve", "-c", "user.email=eve@example.com"]
    commit = ["git", "-C", str(clone), *named, "commit", "-qam", "x", "--no-gpg-sign"]
    subprocess.run(commit, check=True)
    subprocess.run(["git", "-C", str(clone), "push", "-q"], check=True)
