"""What holds for every test: a neutral environment, no unexpected skip, one lab for all of them."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from lab import Engine, Lab, kubernetes, preflight
from lab.errors import NotPossibleHere

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPS = Path(__file__).parent / "skips.txt"
NODES = ("harbor-1", "harbor-2", "depot-1")
DEMO = ("path", "demo")  # there is one demo on a machine

# How long an example takes says how busy the machine is, and nothing of the product.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

for _name in [name for name in os.environ if name.startswith(("MARGRAVE_", "ANSIBLE_"))]:
    if _name != "MARGRAVE_TEST_LAB":  # a lab that is kept between runs while one works on tests
        del os.environ[_name]


def _expected() -> Iterator[str]:
    """Patterns of tests that may skip; each line is `pattern: reason`."""
    for line in SKIPS.read_text().splitlines():
        pattern, _, reason = line.partition(": ")
        if pattern and not line.startswith("#"):
            assert reason, f"tests/skips.txt: {pattern}: has no reason"
            yield pattern


class _Skips:
    """Collects skips; in CI an unexpected one fails the run."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self.seen[report.nodeid] = str(reason)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if os.environ.get("CI") != "true":
            return
        patterns = list(_expected())
        for nodeid, reason in self.seen.items():
            if not any(fnmatch.fnmatch(nodeid, pattern) for pattern in patterns):
                print(f"\nunexpected skip: {nodeid}: {reason} (see tests/skips.txt)")  # noqa: T201
                session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_configure(config: pytest.Config) -> None:
    """Watch the skips of the run; short names for the folders of its workers.

    Sockets lie in them, of SSH and of our own, and a socket's path may have a hundred characters.
    """
    config.pluginmanager.register(_Skips(), "margrave-skips")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        config.option.basetemp = str(Path(config.option.basetemp).with_name(worker[1:]))


class _Together(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Tests of a file go to one worker, in their order; all of the demo's to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        folder = Path(nodeid.partition("::")[0]).parent.name
        return "demo" if folder in DEMO else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """Who gets which test, where there are several workers."""
    return _Together(config, log)


@pytest.fixture(scope="session")
def needs_lab() -> None:
    """Skip, with the reason, where no lab can be made."""
    try:
        preflight.check()
    except NotPossibleHere as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def lab(needs_lab: None) -> Iterator[Lab]:
    """Three running nodes and a filled registry, shared by all tests: leave them as they were.

    Each worker of a run has its own. With MARGRAVE_TEST_LAB=NAME the lab of that name is used,
    and kept for the next run.
    """
    kept = os.environ.get("MARGRAVE_TEST_LAB")
    shared = Lab(kept or f"test{os.environ.get('PYTEST_XDIST_WORKER', '')}")
    shared.up(NODES)
    yield shared
    if not kept:
        shared.down()


@pytest.fixture(scope="session")
def docker_node(lab: Lab) -> str:
    """A node of the shared lab with Docker Engine and no podman; made when first asked for."""
    lab.up(["yard-1"], engine=Engine.DOCKER)
    return "yard-1"


@pytest.fixture(scope="session")
def kubernetes_node(lab: Lab) -> str:
    """A node of the shared lab with Kubernetes and Helm; made when first asked for."""
    lab.up(["kube-1"], engine=Engine.KUBERNETES)
    kubernetes.install(lab, "kube-1")
    return "kube-1"
