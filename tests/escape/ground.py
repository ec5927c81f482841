"""A node of the lab that hostile packages are sent to, with a neighbour that they may not touch."""

from __future__ import annotations

import base64
import io
import json
import shlex
import zipapp
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.margrave.edge.plugins.module_utils._request import short_of

from lab import Engine, Lab
from tests.escape import differences
from tests.escape.catalogue import COMPONENT, MARKER, Names, Package
from tests.escape.differences import Listing
from tests.escape.listener import Listener
from tests.escape.neighbours import (
    FIXTURES,
    REMOVE_FIXTURES,
    RESTORE,
    ChartNeighbour,
    ComposeNeighbour,
)
from tests.support.shop import Shop, Step

NODE_SIDE = Path(__file__).with_name("node_side")
PROGRAM = Path("/run/escape-listing.pyz")
TIMEOUT = 8  # seconds until a package must be healthy: nothing in here takes longer to start
NAMESPACE = "default"
# The contract's default, written out: it must not depend on the module's own default.
DEFAULT_POLICY: dict[str, Any] = {
    "privileged": "deny",
    "host_paths": [],
    "devices": [],
    "host_namespaces": "deny",
    "capabilities": [],
    "registries": ["*"],
}


class Neighbour(Protocol):
    """Another deployment of the node, and how everything that was deployed is removed."""

    def install(self, folder: Path) -> Step:
        """Return the call that installs it."""

    def sweep(self) -> str:
        """Return the shell script that removes all deployments from the node."""


class Ground:
    """One node, the suite's names for it, and calls of the modules for packages."""

    def __init__(self, lab: Lab, node: str, engine: Engine, base: Path) -> None:
        self.lab = lab
        self.node = node
        self.engine = engine
        self.base = base
        self.listener = Listener(str(lab.gateway))
        self.names = Names(str(lab.gateway), node, self.listener.port)
        helm = engine is Engine.KUBERNETES
        self._neighbour: Neighbour = ChartNeighbour() if helm else ComposeNeighbour(str(engine))

    def open(self) -> None:
        """Bring the node to where every package starts."""
        program = io.BytesIO()
        zipapp.create_archive(NODE_SIDE, program)
        self.lab.inside(self.node, PROGRAM).write_bytes(program.getvalue())
        self.reset()

    def reset(self) -> None:
        """Bring the node back to where every package starts, whatever was done to it."""
        self._restore()
        self.lab.ssh(self.node, FIXTURES, check=True)
        answer = self.shop().one(self._neighbour.install(self.base / "neighbour"))
        assert answer.get("state") == "INSTALLED", answer

    def recover(self, before: Listing, own: Sequence[str]) -> None:
        """Undo what packages did that got through, with as little as it takes."""
        if not differences.between(before, self.listing(own), own):
            return
        self.lab.ssh(self.node, RESTORE + FIXTURES, timeout=300)
        if differences.between(before, self.listing(own), own):
            self.reset()

    def close(self) -> None:
        """Leave the node as it was."""
        self.listener.close()
        self._restore()
        self.lab.ssh(self.node, f"{REMOVE_FIXTURES} {PROGRAM}")

    def listing(self, own: Sequence[str] = ()) -> Listing:
        """Return everything on the node; `own` are the deployments under test."""
        question = {
            "engine": str(self.engine),
            "own": list(own),
            "releases": {f"margrave-{short_of(ident)}-{COMPONENT}": ident for ident in own},
            "marker": MARKER,
        }
        command = f"python3 {PROGRAM} {shlex.quote(json.dumps(question))}"
        done = self.lab.ssh(self.node, command, check=True, timeout=120)
        found: Listing = json.loads(done.stdout)
        return found

    def install(self, packages: Iterable[Package]) -> list[dict[str, Any]]:
        """Return the answers of workload_install for the packages, called by a plain playbook."""
        return self.shop().call(*(self._step(package) for package in packages))

    def delete(self, packages: Iterable[Package]) -> list[dict[str, Any]]:
        """Return the answers of workload_delete."""
        return self.shop().call(
            *(
                Step("workload_delete", {"deployment": package.deployment, "volumes": "remove"})
                for package in packages
            )
        )

    def shop(self) -> Shop:
        """Return the way to call modules on the node."""
        return Shop(self.lab, self.base, {}, self.node, engine=str(self.engine))

    def _step(self, package: Package) -> Step:
        component: dict[str, Any] = {"name": COMPONENT, "timeout": TIMEOUT}
        if package.archive is None:
            component["src"] = str(package.write(self.base / "content" / package.name))
        else:
            component |= {
                "archive": base64.b64encode(package.archive).decode(),
                "digest": f"sha256:{sha256(package.archive).hexdigest()}",
            }
        content = "variables" if package.kind == "compose" else "values"
        component[content] = dict(getattr(package, content))
        arguments = {
            "deployment": package.deployment,
            "name": package.name.replace("_", "-"),
            "application": "escape",
            "version": "1.0.0",
            "profile": package.kind,
            "components": [component],
            "policy": {**DEFAULT_POLICY, **package.policy},
        }
        if package.kind == "helm":
            arguments["namespace"] = NAMESPACE
        return Step("workload_install", arguments)

    def _restore(self) -> None:
        """Remove all deployments and everything that packages left on the node."""
        self.lab.ssh(self.node, self._neighbour.sweep() + RESTORE, timeout=300)
