"""Nodes are emptied one after the other before they are repaired, and let back afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.functional.ansible.conftest import APPS, Modules
from tests.support.served import ROOT, PretendRunner, Served
from tests.support.waiting import eventually

NODES = ("harbor-1", "harbor-2")


@pytest.fixture
def runner(controller: Served) -> PretendRunner:
    """The runner of a site of its own with two nodes."""
    name = f"harbor-{os.urandom(3).hex()}"
    runner = PretendRunner(controller, name, controller.post("/sites", {"name": name})["token"])
    for node in NODES:
        runner.node(node)
    return runner


def _drain(controller: Served, base: Path, **asked: Any) -> tuple[int, str]:
    """The playbook as its first lines call it; its exit code and its words."""
    more = [word for key, value in asked.items() for word in ("-e", f"{key}={value}")]
    done = subprocess.run(
        ["ansible-playbook", "playbooks/drain.yml", *more],
        cwd=ROOT,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(base),
            "LC_ALL": "C.UTF-8",
            **controller.environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, " ".join(done.stdout.split())


def _deployed(controller: Served, runner: PretendRunner, module: Modules) -> None:
    """The storefront stands on the first node."""
    module("app_source", name="examples", repository=str(APPS))
    module("deployment", app="storefront", version="1.0.0", sites=[runner.site])
    found: list[dict[str, Any]] = []

    def published() -> bool:
        found[:] = controller.get("/deployments", site=runner.site)["items"]
        return bool(found and found[0]["revision"])

    eventually(published)
    runner.placement(found[0], NODES[0])


def _drained(controller: Served, site: str) -> list[bool]:
    nodes = controller.get(f"/sites/{site}/nodes")["items"]
    found = {one["name"]: one["drain"] for one in nodes}
    return [found[name] for name in NODES]


def test_a_site_is_drained_and_let_back(
    controller: Served, runner: PretendRunner, tmp_path: Path
) -> None:
    """The site's nodes are drained in Git; with drain=false they are used again."""
    code, words = _drain(controller, tmp_path, target=runner.site.replace("-", "_"))
    drained = _drained(controller, runner.site)
    again, same = _drain(controller, tmp_path, target=runner.site.replace("-", "_"))
    back, _ = _drain(controller, tmp_path, target=f"harbor-1.{runner.site}", drain="false")

    assert (code, again, back) == (0, 0, 0), words
    assert drained == [True, True]
    assert f"harbor-1.{runner.site} has no deployment" in words
    assert same.count("changed=0") == len((*NODES, "localhost"))
    assert _drained(controller, runner.site) == [False, True]


def test_a_node_that_is_not_emptied_stops_it(
    controller: Served, runner: PretendRunner, module: Modules, tmp_path: Path
) -> None:
    """The next one keeps its work, and what still stands on the first is named."""
    _deployed(controller, runner, module)

    code, words = _drain(controller, tmp_path, target=runner.site.replace("-", "_"), patience=2)

    assert code == 2, words
    assert "not within 2 s: waiting for harbor-1 to be empty, where storefront stands" in words
    assert f"harbor-2.{runner.site}" not in words.split("PLAY RECAP")[1]
    assert _drained(controller, runner.site) == [True, False]
