"""A drain of a real node: what has a volume there stops, moves nowhere, and comes back to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

NODES = ("harbor-1", "harbor-2")
LIMIT = 120


@pytest.fixture
def runner(lab: Lab, tmp_path: Path) -> Iterator[tuple[RunnerProcess, Repository]]:
    """A site with two nodes that looks at them hardly ever; clean before and after."""
    for name in NODES:
        clean(lab, name)
    repository = Repository(tmp_path)
    repository.push()
    made = RunnerProcess(tmp_path / "runner", str(repository.bare))
    made.start()
    try:
        for name in NODES:
            made.add(name, lab.node(name).address, lab.key, lab.host_key(name))
        yield made, repository
    finally:
        made.kill(signal.SIGTERM)
        for name in NODES:
            clean(lab, name)


def test_what_has_a_volume_comes_back_to_it(
    lab: Lab, runner: tuple[RunnerProcess, Repository]
) -> None:
    """Also when it is drained before anybody looked at what the install made."""
    process, repository = runner

    def state() -> dict[str, str]:
        return {name: str(one["state"]) for name, one in process.placements(STOREFRONT).items()}

    def drain(node: str, *, wanted: bool) -> None:
        text = f"nodes: {{{node}: {{drain: {str(wanted).lower()}}}}}\n"
        repository.write("sites/harbor.yaml", text)
        repository.push()
        process.hint()

    component = storefront_component(repository.tree, "1.0.0")
    repository.deploy("1.0.0", component=component, placement={"nodes": 1}, timeout="1m00s")
    repository.push()
    process.hint()
    eventually(lambda: list(state().values()) == ["INSTALLED"], LIMIT, "the install")
    [home] = state()
    volumes = f"podman volume ls -q --filter label=margrave.deployment={STOREFRONT}"
    before = lab.ssh(home, volumes).stdout
    assert before
    drain(home, wanted=True)
    eventually(lambda: state() == {home: "DELETED"}, LIMIT, "the drain")
    assert lab.ssh(home, volumes).stdout == before
    drain(home, wanted=False)
    eventually(lambda: state() == {home: "INSTALLED"}, LIMIT, "the way back")
    assert lab.ssh(home, volumes).stdout == before
    assert {one["node"] for one in process.told(STOREFRONT)} == {home}
