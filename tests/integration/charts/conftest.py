"""A controller, a site's runner and a node with Kubernetes, joined as an operator joins them."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab, kubernetes
from tests.support import charts, controller_process
from tests.support.charted_site import ChartedSite, clean
from tests.support.runner_process import RunnerProcess

REGISTRY = "registry.margrave.lab:5000"
SITE = "harbor"


@pytest.fixture(scope="module")
def site(
    lab: Lab, kubernetes_node: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChartedSite]:
    """The examples in the catalogue; the site has a node with Kubernetes and one with podman."""
    assert kubernetes.programs() is not None
    folder = tmp_path_factory.mktemp("charts")
    controller = controller_process.make(folder)
    reached = [{"host": REGISTRY, "address": lab.registry_address, "insecure": True}]
    controller.settings["MARGRAVE_REGISTRIES__JSON"] = json.dumps(reached)
    added: list[str] = []
    runner = None
    try:
        controller.start()
        runner = _runner(folder, controller)
        runner.start()
        for node in (kubernetes_node, "harbor-1"):
            runner.add(node, lab.node(node).address, lab.key, lab.host_key(node))
            added.append(node)
        yield ChartedSite(lab, controller, runner, folder, SITE, kubernetes_node)
    finally:
        if runner is not None:
            for node in added:
                runner.remove(node, "--forget")
            runner.kill(signal.SIGTERM)
        controller.stop()
        controller.registry.stop()
        clean(lab, kubernetes_node)


def _runner(folder: Path, controller: controller_process.ControllerProcess) -> RunnerProcess:
    controller.post("/app-sources", name="examples", url=str(controller_process.APPS))
    controller.post("/app-sources/examples/sync")
    token = controller.post("/sites", name=SITE)["token"]
    secrets = folder / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "words").write_text(f"{charts.SECRET}\n")
    return RunnerProcess(
        folder / "runner",
        f"{controller.url}/git/deployments.git",
        SITE,
        git=f'username = "{SITE}"\npassword = "{token}"\n',
        more=(
            f'[controller]\nurl = "{controller.url}"\ntoken = "{token}"\n'
            f'[secrets]\ndir = "{secrets}"\n'
            f'[[registries]]\nhost = "{REGISTRY}"\ninsecure = true\n'
        ),
        drift="3s",
    )
