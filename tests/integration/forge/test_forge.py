"""A forge as it really is: its HTTPS and SSH, its pushes, its webhooks as it signs them."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lab import Lab
from lab.forge import Forge
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from tests.support import gitea
from tests.support.clients import Client
from tests.support.registry import FakeRegistry
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually
from tests.support.works import Works, git

pytestmark = [pytest.mark.lab, pytest.mark.full]

SECRET = "a webhook's secret"
NODE = "depot-1"


@pytest.fixture(scope="module")
def forge(needs_lab: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    """Gitea with a person and nothing else."""
    with gitea.served(tmp_path_factory.mktemp("forge")) as made:
        yield made


def access(forge: Forge, way: str, repository: str) -> dict[str, str]:
    """The keys of `git.*` by which the repository is reached."""
    if way == "ssh":
        return {
            "remote": forge.ssh_remote(repository),
            "ssh_key": str(forge.ssh_key),
            "known_hosts": str(forge.known_hosts),
        }
    return {
        "remote": forge.https_remote(repository),
        "username": forge.USER,
        "password": forge.PASSWORD,
        "ca_file": str(forge.ca_file),
    }


def toml(values: Mapping[str, str]) -> str:
    """Keys of one table but the remote, which the process is given."""
    return "".join(f'{key} = "{value}"\n' for key, value in values.items() if key != "remote")


class Person:
    """Somebody with a clone who pushes over the forge's SSH."""

    def __init__(self, forge: Forge, repository: str, base: Path) -> None:
        self._forge = forge
        self._remote = forge.ssh_remote(repository)
        self.work = Repository(base)

    def push(self) -> str:
        """Commit what was changed and push it to the forge; the commit."""
        commit = self.work.push()
        git(self.work.tree, "-c", ssh_to(self._forge), "push", "-q", self._remote, "main")
        return commit


@pytest.mark.parametrize("way", ["https", "ssh"])
def test_a_persons_push_is_on_the_node_a_moment_later(
    lab: Lab, forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The forge's own webhook tells the runner, whose next poll is ten minutes away."""
    # Machines behind a proxy have this; the runner's own `git.ca_file` counts more.
    monkeypatch.setenv("GIT_SSL_CAINFO", "/etc/ssl/certs/ca-certificates.crt")
    name = f"pushed-{way}"
    forge.make_repository(name)
    person = Person(forge, name, tmp_path)
    components = {
        version: storefront_component(person.work.tree, version) for version in ("1.0.0", "1.1.0")
    }
    person.work.deploy("1.0.0", component=components["1.0.0"], timeout="0m30s")
    person.push()
    keys = access(forge, way, name)
    more = f'[hooks]\nsecrets = ["{SECRET}"]\n'
    runner = RunnerProcess(tmp_path / "runner", keys["remote"], git=toml(keys), more=more)
    runner.start()
    page = Client(lab.node(NODE).address)
    try:
        runner.add(NODE, lab.node(NODE).address, lab.key, lab.host_key(NODE))
        eventually(lambda: page.ask() == "1.0.0", 240, "what is in the forge runs")
        forge.add_webhook(name, f"{runner.url}/hooks/git", SECRET)

        person.work.deploy("1.1.0", component=components["1.1.0"], timeout="0m30s")
        commit = person.push()

        eventually(lambda: page.ask() == "1.1.0", 240, "the push is on the node")
        assert runner.status()["site"]["applied_commit"] == commit
        # Only now, and the poll is far: a forged one says nothing and changes nothing.
        forged = urllib.request.Request(f"{runner.url}/hooks/git", data=b"{}", method="POST")
        forged.add_header("X-Gitea-Signature", "0" * 64)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(forged, timeout=10)

        person.work.remove(f"deployments/harbor/{STOREFRONT}.yaml")
        person.push()
        eventually(
            lambda: runner.placements(STOREFRONT)[NODE]["state"] == "DELETED", 240, "it is gone"
        )
    finally:
        runner.remove(NODE)
        runner.kill(signal.SIGTERM)
        clean(lab, NODE)


@pytest.mark.parametrize("way", ["https", "ssh"])
def test_the_controller_publishes_to_a_forge_beside_people(
    forge: Forge, tmp_path: Path, way: str
) -> None:
    """Its commits are the forge's; what a person pushed between stays in what it changes next."""
    name = f"published-{way}"
    forge.make_repository(name)
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry, git=access(forge, way, name))
    try:
        works.with_apps("harbor")
        one = works.create("harbor", version="1.0.0")["deployments"][0]
        works.publisher.publish_all()
        await_head(forge, name, works.repository.head())

        person = tmp_path / "person"
        clone(forge, name, person)
        path = person / "deployments" / "harbor" / f"{one['id']}.yaml"
        raw = yaml_text.parse(path.read_bytes()).value
        raw["spec"]["parameters"]["greeting"]["value"] = "from grace"
        path.write_text(yaml_text.dump(raw))
        git(person, "commit", "-qam", "Greet otherwise")
        push(forge, person)
        answer = works.act("update", one["id"], version="1.1.0")
        works.publisher.publish_all()

        await_head(forge, name, works.request(answer)["commit"])
        document = read_deployment(works.document(one))
        assert (document.version, document.values) == ("1.1.0", {"greeting": "from grace"})
    finally:
        works.store.close()
        registry.stop()


def await_head(forge: Forge, name: str, commit: str | None) -> None:
    """Wait until the forge's API shows the commit: its index follows a push a moment later."""

    def is_shown() -> bool:
        branches = forge.call("GET", f"/repos/{forge.USER}/{name}/branches")
        return {branch["name"]: branch["commit"]["id"] for branch in branches or ()}.get(
            "main"
        ) == commit

    eventually(is_shown, 120, f"the forge shows {commit} as main of {name}")


def ssh_to(forge: Forge) -> str:
    """How a person's Git reaches the forge."""
    hosts = f"-o UserKnownHostsFile={forge.known_hosts}"
    return f"core.sshCommand=ssh -F /dev/null -i {forge.ssh_key} -o IdentitiesOnly=yes {hosts}"


def clone(forge: Forge, name: str, folder: Path) -> None:
    """A person's clone."""
    git(folder.parent, "-c", ssh_to(forge), "clone", "-q", forge.ssh_remote(name), folder.name)


def push(forge: Forge, folder: Path) -> None:
    """A person's push."""
    git(folder, "-c", ssh_to(forge), "push", "-q")
