"""Real containers that crash: within the stable window they are the release's failure."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from margrave import digest
from tests.support.repository import STOREFRONT, Repository
from tests.support.runner_process import RunnerProcess
from tests.support.shop import ENGINES, clean
from tests.support.waiting import eventually
from tests.support.workload import idle

pytestmark = pytest.mark.lab

STABLE = 10  # seconds
LIMIT = 300


class Site:
    """A site with one node, whose runner looks at it only when a window has ended."""

    def __init__(self, lab: Lab, base: Path, engine: str, node: str) -> None:
        self.lab, self.engine, self.node = lab, engine, node
        self.repository = Repository(base)
        self.repository.push()
        self.runner = RunnerProcess(base / "runner", str(self.repository.bare))

    def want(self, version: str, command: Sequence[str]) -> None:
        """Push a release whose only service runs a command, and is restarted when that ends."""
        service = idle(restart="unless-stopped") | {"command": list(command)}
        text = json.dumps({"services": {"web": service}})
        name = digest.of_files({"compose.yaml": digest.File(text.encode())})[7:]
        self.repository.write(f"components/{name}/compose.yaml", text)
        health = {"grace": "1s", "stable": f"{STABLE}s"}
        self.repository.deploy(version, component=name, health=health)
        self.repository.push()
        self.runner.hint()

    def placement(self) -> dict[str, Any]:
        """The placement as the runner keeps it."""
        return dict(self.runner.placements(STOREFRONT).get(self.node, {}))

    def stands(self, *wanted: str | None) -> bool:
        """Whether state, outcome and version are these."""
        one = self.placement()
        return tuple(one.get(name) for name in ("state", "outcome", "version")) == wanted

    def is_proven(self, version: str) -> bool:
        """Whether this version is the one to go back to."""
        return self.placement().get("good_version") == version

    def moves(self) -> list[tuple[str, str]]:
        """The transitions so far."""
        return [(one["from"] or "", one["to"]) for one in self.runner.told(STOREFRONT)]


@pytest.fixture
def site(request: pytest.FixtureRequest, lab: Lab, tmp_path: Path) -> Iterator[Site]:
    """Nothing deployed; clean before and after."""
    engine = getattr(request, "param", "podman")
    node = request.getfixturevalue("docker_node") if engine == "docker" else "harbor-1"
    clean(lab, node, engine)
    made = Site(lab, tmp_path, engine, node)
    made.runner.start()
    try:
        made.runner.add(node, lab.node(node).address, lab.key, lab.host_key(node))
        yield made
    finally:
        made.runner.kill(signal.SIGTERM)
        clean(lab, node, engine)


RUNS = ["/bin/idle"]
SELDOM, OFTEN = ('[drift]\ninterval = "600s"', '[drift]\ninterval = "2s"')
CRASHES = ["/bin/sh", "-c", "sleep 4; exit 7"]


@pytest.mark.parametrize("site", ENGINES, indirect=True)
def test_a_release_that_crashes_in_its_window_goes_back(site: Site) -> None:
    """The former release runs again without anybody's help, and no other look was needed."""
    site.want("1.0.0", RUNS)
    eventually(lambda: site.is_proven("1.0.0"), LIMIT, "1.0.0 is proven", 0.3)
    site.want("1.1.0", CRASHES)
    eventually(lambda: site.stands("INSTALLED", "rolled-back", "1.0.0"), LIMIT, "it went back", 0.3)
    assert site.moves()[-6:] == [
        ("INSTALLED", "UPDATING"),
        ("UPDATING", "INSTALLED"),
        ("INSTALLED", "UPDATING"),
        ("UPDATING", "FAILED"),
        ("FAILED", "ROLLINGBACK"),
        ("ROLLINGBACK", "INSTALLED"),
    ]
    reasons = [one["reason"] for one in site.runner.told(STOREFRONT)]
    assert reasons[-4] == "unstable"
    assert "crashed" in reasons[-3]


@pytest.mark.full
def test_a_first_install_that_crashes_ends_failed(site: Site) -> None:
    """Nothing is left running, and a person has to go on."""
    site.want("1.0.0", CRASHES)
    eventually(lambda: site.stands("FAILED", "failed", None), LIMIT, "it failed", 0.3)
    running = f"{site.engine} ps -aq --filter label=margrave.deployment"
    assert site.lab.ssh(site.node, running).stdout == ""


@pytest.mark.full
def test_a_runner_killed_within_the_window_finds_the_crash_afterwards(site: Site) -> None:
    """The node has counted meanwhile."""
    site.want("1.0.0", RUNS)
    eventually(lambda: site.is_proven("1.0.0"), LIMIT, "1.0.0 is proven", 0.3)
    site.want("1.1.0", CRASHES)
    eventually(lambda: site.stands("INSTALLED", "succeeded", "1.1.0"), LIMIT, "1.1.0 runs", 0.1)
    site.runner.kill()
    site.runner.start()
    eventually(lambda: site.stands("INSTALLED", "rolled-back", "1.0.0"), LIMIT, "it went back", 0.3)


@pytest.mark.full
def test_a_proven_release_that_begins_to_crash_is_degraded(site: Site) -> None:
    """It stays, and is not tried again."""
    crashes_later = ["/bin/sh", "-c", f"sleep {STABLE + 15}; exit 7"]
    site.want("1.0.0", crashes_later)
    eventually(lambda: site.is_proven("1.0.0"), LIMIT, "1.0.0 is proven", 0.3)
    site.runner.kill(signal.SIGTERM)
    text = site.runner.config.read_text()
    site.runner.config.write_text(text.replace(SELDOM, OFTEN))
    site.runner.start()
    eventually(lambda: site.placement()["health"] == "degraded", LIMIT, "it is degraded", 0.3)
    assert site.moves() == [("", "PENDING"), ("PENDING", "INSTALLING"), ("INSTALLING", "INSTALLED")]
    assert site.placement()["outcome"] == "succeeded"
