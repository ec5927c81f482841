"""A site with a controller, a runner and one lab node, where one application is published."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from margrave import yaml_text
from tests.equivalence.nodes import EdgeNode
from tests.equivalence.releases import Release
from tests.equivalence.services import REGISTRY
from tests.support import controller_process
from tests.support.repository import Repository
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

APP = "holders"
SITE = "harbor"
LIMIT = 180.0
SECRET = "VALUE_OF_SECRET_ENVIRONMENT"


class ShopSite:
    """Application at a site; its containers are inspected on the node."""

    def __init__(self, base: Path, node: EdgeNode) -> None:
        self.node = node
        self.apps = base / "apps"
        self.secrets = base / "secrets"
        self.secrets.mkdir()
        self.deployment = ""
        self.versions = 0
        repository = Repository(base)
        repository.push()
        self.controller = _controller(base, repository, node)
        token = self.controller.post("/sites", name=SITE)["token"]
        controller = f'[controller]\nurl = "{self.controller.url}"\ntoken = "{token}"\n'
        secrets = f'[secrets]\ndir = "{self.secrets}"\n'
        self.runner = RunnerProcess(
            base / "runner", str(repository.bare), SITE, more=controller + secrets, drift="3s"
        )

    def open(self) -> None:
        """Start the runner and onboard the node."""
        lab, name = self.node.lab, self.node.name
        self.runner.start()
        self.runner.add(name, lab.node(name).address, lab.key, lab.host_key(name))

    def close(self) -> None:
        """End both processes and leave the node as it was."""
        self.runner.kill(signal.SIGTERM)
        self.controller.stop()
        self.controller.registry.stop()
        self.node.clean()

    def publish(self, release: Release) -> str:
        """Publish the release as a new version of the application; the version."""
        self.versions += 1
        version = f"1.0.{self.versions}"
        folder = self.apps / version
        release.write(folder / "compose")
        (folder / "margo.yaml").write_text(yaml_text.dump(_description(version, release)))
        if self.versions == 1:
            self.controller.post("/app-sources", name="apps", url=str(self.apps))
        self.controller.post("/app-sources/apps/sync")
        return version

    def request(self, release: Release, version: str | None = None) -> None:
        """Ask the controller for the release: another version, other parameters, or both."""
        body = {"parameters": _parameters(release), **({"version": version} if version else {})}
        if self.deployment:
            with self.controller.api as api:
                answer = api.patch(f"/deployments/{self.deployment}", json=body)
            assert answer.status_code == 202, answer.text
        else:
            made = self.controller.post("/deployments", app=APP, targets={"sites": [SITE]}, **body)
            self.deployment = made["deployments"][0]["id"]

    def keep_secret(self, release: Release) -> None:
        """Put the value of the secret that the site alone knows where the runner finds it."""
        (self.secrets / "token").write_text(release.variables()[SECRET])

    def wait(self, release: Release, arrived: Any) -> list[dict[str, Any]]:
        """Wait until the snapshot of the node is as it should be; the snapshot."""
        last: list[dict[str, Any]] = []

        def done() -> bool:
            self.runner.hint()
            last[:] = self.node.snapshot(release)
            placement = self.runner.placements(self.deployment).get(self.node.name) or {}
            assert placement.get("state") == "INSTALLED", placement
            return bool(arrived(last))

        eventually(done, LIMIT, "the release runs", 0.5)
        return last


def _controller(
    base: Path, repository: Repository, node: EdgeNode
) -> controller_process.ControllerProcess:
    """A controller that resolves images in the lab's registry, where the node pulls them."""
    made = controller_process.make(base)
    host, address = REGISTRY, node.lab.registry_address
    made.settings |= {
        "MARGRAVE_GIT__REMOTE": str(repository.bare),
        "MARGRAVE_GIT__POLL_INTERVAL": "1s",
        "MARGRAVE_REGISTRIES__JSON": json.dumps(
            [{"host": host, "address": address, "insecure": True}]
        ),
    }
    made.start()
    return made


def _parameters(release: Release) -> dict[str, Any]:
    """Return the values of the parameters; the secret is known to the site only."""
    values: dict[str, Any] = {name.lower(): text for name, text in release.variables().items()}
    return {**values, SECRET.lower(): {"secret": "token"}}


def _description(version: str, release: Release) -> dict[str, Any]:
    names = sorted(release.variables())
    component = {
        "name": APP,
        "properties": {"repository": f"oci://{REGISTRY}/{APP}", "revision": version},
        "x-margrave-extensions": {"path": "./compose"},
    }
    settings = [
        {"parameter": name.lower(), "name": name.lower(), "schema": "text"} for name in names
    ]
    return {
        "apiVersion": "v1",
        "id": APP,
        "metadata": {
            "name": APP,
            "version": version,
            "catalog": {"organization": [{"name": "Margrave tests"}]},
        },
        "deploymentProfiles": [
            {"type": "compose", "id": f"{APP}-compose", "components": [component]}
        ],
        "parameters": {
            name.lower(): {"value": "unset", "targets": [{"pointer": name, "components": [APP]}]}
            for name in names
        },
        "configuration": {
            "sections": [{"name": "All", "settings": settings}],
            "schema": [{"name": "text", "dataType": "string"}],
        },
    }
