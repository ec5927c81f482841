"""A secret that the runner carries to a node lies in no file of the runner, however it ends."""

from __future__ import annotations

import json
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support.place import LIMIT, NODE
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

SECRET = "s3cr3t-v4lue"
DOCUMENT = f"deployments/harbor/{STOREFRONT}.yaml"


class Site:
    """A runner with one node, and a deployment that takes its greeting from a secret."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.repository = Repository(base)
        secrets = base / "secrets"
        secrets.mkdir(mode=0o700)
        (secrets / "words").write_text(f"{SECRET}\n")
        self.want("1.0.0")
        more = f'[secrets]\ndir = "{secrets}"\n'
        self.runner = RunnerProcess(base / "runner", str(self.repository.bare), more=more)
        self.runner.start()
        self.runner.add(NODE, lab.node(NODE).address, lab.key, lab.host_key(NODE))
        eventually(lambda: self.runs("1.0.0"), LIMIT, "1.0.0 runs", 0.2)

    def want(self, version: str) -> None:
        """Push the version."""
        component = storefront_component(self.repository.tree, version)
        self.repository.deploy(version, component=component, timeout="2m0s")
        path = self.repository.tree / DOCUMENT
        path.write_text(path.read_text().replace(f"hello {version}", "secret://words"))
        self.repository.push()

    def runs(self, version: str) -> bool:
        """Return whether the version is installed."""
        one = self.runner.placements(STOREFRONT).get(NODE) or {}
        return (one.get("state"), one.get("version")) == ("INSTALLED", version)

    def at_work(self) -> bool:
        """Return whether Ansible is at work on an operation."""
        running = [one for one in self.runner.status()["operations"] if one["state"] == "running"]
        return bool(running and self.runner.runs() and self.runner.ansible())

    def holding(self) -> list[Path]:
        """Return the files of the runner's state that hold the secret."""
        found = []
        for path in self.runner.state.rglob("*"):
            try:
                if path.is_file() and SECRET.encode() in path.read_bytes():
                    found.append(path)
            except FileNotFoundError:
                continue  # a run that ended removes its files
        return found


@pytest.fixture
def site(lab: Lab, tmp_path: Path) -> Iterator[Site]:
    made = Site(lab, tmp_path)
    yield made
    made.runner.kill(signal.SIGTERM)
    clean(lab, NODE)


def test_no_file_of_a_runner_holds_a_secret_also_when_it_is_killed(site: Site, lab: Lab) -> None:
    """Not while a call is at work, not after kill -9, not after the next start; the container has
    it."""
    assert site.holding() == []
    site.want("1.1.0")
    site.runner.hint()
    eventually(site.at_work, LIMIT, "the update is at work", 0.01)
    found = site.holding()
    site.runner.kill()
    assert found == []
    assert site.holding() == []
    site.runner.start()
    eventually(lambda: site.runs("1.1.0"), LIMIT, "1.1.0 runs", 0.2)
    assert site.holding() == []
    log = (site.runner.base / "log").read_bytes()
    assert SECRET.encode() not in log
    url = f"http://{lab.node(NODE).address}:8000/"
    with urllib.request.urlopen(url, timeout=5) as answer:
        assert json.load(answer)["greeting"] == SECRET
