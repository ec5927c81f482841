"""A deployment of one Compose component, and access to its containers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import definitions
from tests.support.shop import Shop, Step

REGISTRY = "registry.margrave.lab:5000"
IDLE = f"{REGISTRY}/idle:1"


@dataclass
class Workload:
    """A component whose package changes between releases."""

    shop: Shop
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, compose: Mapping[str, Any], files: Mapping[str, str] | None = None) -> None:
        """Write the package: a Compose file and further files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        texts = {"compose.yaml": json.dumps(compose), **(files or {})}
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def step(self, kind: str = "update", *, check: bool = False, **more: Any) -> Step:
        """Return a module call with the current package, without an explicit revision."""
        component = {
            "name": "app",
            "src": str(self.folder),
            "variables": dict(self.variables),
            "timeout": 60,
        }
        arguments = {
            "deployment": self.shop.deployment,
            "name": "app",
            "application": "com-example-app",
            "components": [component],
            "health": {"timeout": 60, "grace": 1},
        }
        return Step(f"workload_{kind}", {**arguments, **more}, check)

    def apply(self, **more: Any) -> dict[str, Any]:
        """Run an update, check that it succeeds, and return its answer."""
        answer = self.shop.one(self.step(**more))
        assert answer["state"] == "INSTALLED", answer["error"]
        return answer

    def info(self) -> dict[str, Any]:
        """Return the entry of workload_info for the deployment."""
        answer = self.shop.one(Step("workload_info", {"deployment": self.shop.deployment}))
        found: dict[str, Any] = answer["workloads"][0]
        return found

    def inspect(self, service: str) -> dict[str, Any]:
        """Return the engine's inspect output for a service's container."""
        ids = self.shop.ssh(
            f"{self.shop.engine} ps -aq --filter label=margrave.deployment={self.shop.deployment}"
            f" --filter label=com.docker.compose.service={service}"
        ).split()
        assert len(ids) == 1, ids
        found: dict[str, Any] = json.loads(
            self.shop.ssh(f"{self.shop.engine} inspect --type container {ids[0]}")
        )[0]
        return found

    def started(self, service: str) -> tuple[str, str]:
        """Return id and start time of a service's container; both change with a restart."""
        found = self.inspect(service)
        return found["Id"], found["State"]["StartedAt"]

    def read(self, service: str, path: str) -> str:
        """Return the content of a file inside the container."""
        return self.shop.ssh(f"cat /proc/{self.inspect(service)['State']['Pid']}/root{path}")

    def mounted(self, service: str) -> list[str]:
        """Return the sources of a service's bind mounts."""
        mounts = self.inspect(service)["Mounts"]
        return sorted(one["Source"] for one in mounts if one["Type"] == "bind")


def idle(**more: Any) -> dict[str, Any]:
    """Return a service that runs until it is stopped."""
    return {"image": IDLE, "command": ["/bin/idle"], **more}


def push_idle(shop: Shop, folder: Path, name: str, version: str) -> str:
    """Push an image with this version in /etc/version under the tag `moving`; return its name."""
    place = folder / "images" / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(definitions.OURS / "idle" / "files", place / "files")
    shutil.copy(definitions.OURS / "idle" / "image.toml", place)
    (place / "tags/moving/etc").mkdir(parents=True)
    (place / "tags/moving/etc/version").write_text(version)
    shop.lab.push_images(folder / "images")
    return f"{REGISTRY}/{name}:moving"
