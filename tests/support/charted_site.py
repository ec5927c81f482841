"""A site with Kubernetes as its operator sees it: through the controller, and on its node."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.margrave.edge.plugins.module_utils._request import short_of

from lab import Lab
from tests.support import shop
from tests.support.charts import HELM, KUBECTL
from tests.support.controller_process import ControllerProcess
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

LIMIT = 180


@dataclass
class ChartedSite:
    """The controller, the runner of the site, and its node with Kubernetes."""

    lab: Lab
    controller: ControllerProcess
    runner: RunnerProcess
    folder: Path
    name: str
    node: str

    def deploy(self, app: str, version: str, **more: Any) -> str:
        """Ask for a new deployment at the site; its id."""
        body = {"app": app, "version": version, "targets": {"sites": [self.name]}, **more}
        return str(self.controller.post("/deployments", **body)["deployments"][0]["id"])

    def act(self, action: str, deployment: str, **more: Any) -> None:
        """Ask for something to be done with a deployment."""
        body = {"action": action, "select": {"ids": [deployment]}, **more}
        self.controller.post("/deployments/actions", **body)

    def get(self, path: str) -> Any:
        """What the API answers."""
        with self.controller.api as api:
            answer = api.get(path)
        assert answer.is_success, answer.text
        return answer.json()

    def placement(self, deployment: str) -> dict[str, Any]:
        """The newest placement; nothing while there is none."""
        found = self.get(f"/deployments/{deployment}/placements")["items"]
        return dict(max(found, key=lambda one: one["incarnation"])) if found else {}

    def settled(self, deployment: str, state: str, outcome: str, version: str | None) -> None:
        """Wait until the placement stands so."""

        def so() -> bool:
            one = self.placement(deployment)
            told = (one.get("state"), one.get("outcome"), one.get("version"))
            assert told == (state, outcome, version), f"{told} {one.get('error')}"
            return True

        eventually(so, LIMIT, f"{deployment} is {state}, {outcome}", 0.3)

    def history(self, deployment: str) -> list[dict[str, Any]]:
        """Transitions, oldest first."""
        found: list[dict[str, Any]] = self.get(f"/deployments/{deployment}/history")["items"]
        return found

    def operations(self, deployment: str) -> list[str]:
        """Kinds of operations, newest first."""
        found = self.get(f"/operations?deployment={deployment}&limit=100")["items"]
        return [one["kind"] for one in found]

    def ssh(self, command: str) -> str:
        """What a command on the node prints."""
        return self.lab.ssh(self.node, command, check=True).stdout

    def kubectl(self, words: str) -> str:
        """What kubectl prints, in the namespace where the controller puts charts."""
        return self.ssh(f"{KUBECTL} -n default {words}")

    def release(self, deployment: str, component: str = "showcase-chart") -> str:
        """Helm's name of a deployment's component."""
        return f"margrave-{short_of(deployment)}-{component}"

    def pages(self, deployment: str) -> list[dict[str, Any]]:
        """What each pod answers that runs and is not about to end, through the API server."""
        found = json.loads(self.kubectl(f"get pods -l app={self.release(deployment)} -o json"))
        names = [
            one["metadata"]["name"]
            for one in found["items"]
            if one["status"]["phase"] == "Running" and "deletionTimestamp" not in one["metadata"]
        ]
        where = "/api/v1/namespaces/default/pods/{}:8000/proxy/"
        return [json.loads(self.ssh(f"{KUBECTL} get --raw {where.format(name)}")) for name in names]


def clean(lab: Lab, node: str) -> None:
    """Leave the node with Kubernetes, and the one with podman beside it, as they were."""
    lab.ssh(
        node,
        f"{HELM} list -aq | xargs -r {HELM} uninstall >/dev/null;"
        f" {KUBECTL} delete pvc --all >/dev/null; rm -rf /var/lib/margrave/* /run/margrave",
        check=True,
    )
    shop.clean(lab, "harbor-1")
