"""A deployment of one hand-written Compose component, and what its containers hold."""

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
    """One component that is rewritten from release to release."""

    shop: Shop
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, compose: Mapping[str, Any], files: Mapping[str, str] | None = None) -> None:
        """Replace the package by this Compose file and these files beside it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        texts = {"compose.yaml": json.dumps(compose), **(files or {})}
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def step(self, kind: str = "update", *, check: bool = False, **more: Any) -> Step:
        """A call with the package as it lies there; its revision follows from its content."""
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
        """The answer of an update that has to succeed."""
        answer = self.shop.one(self.step(**more))
        assert answer["state"] == "INSTALLED", answer["error"]
        return answer

    def info(self) -> dict[str, Any]:
        """The answer of workload_info for the deployment."""
        answer = self.shop.one(Step("workload_info", {"deployment": self.shop.deployment}))
        found: dict[str, Any] = answer["workloads"][0]
        return found

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine tells of a service's container."""
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
        """Identity and start time of a service's container: both stay unless it is restarted."""
        found = self.inspect(service)
        return found["Id"], found["State"]["StartedAt"]

    def read(self, service: str, path: str) -> str:
        """Content of a file as the service's process sees it."""
        return self.shop.ssh(f"cat /proc/{self.inspect(service)['State']['Pid']}/root{path}")

    def mounted(self, service: str) -> list[str]:
        """Sources of a service's bind mounts."""
        mounts = self.inspect(service)["Mounts"]
        return sorted(one["Source"] for one in mounts if one["Type"] == "bind")


def idle(**more: Any) -> dict[str, Any]:
    """A service that runs until it is stopped."""
    return {"image": IDLE, "command": ["/bin/idle"], **more}


def push_idle(shop: Shop, folder: Path, name: str, version: str) -> str:
    """Push an image whose only tag is `moving`, with this version inside; its reference."""
    place = folder / "images" / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(definitions.OURS / "idle" / "files", place / "files")
    shutil.copy(definitions.OURS / "idle" / "image.toml", place)
    (place / "tags/moving/etc").mkdir(parents=True)
    (place / "tags/moving/etc/version").write_text(version)
    shop.lab.push_images(folder / "images")
    return f"{REGISTRY}/{name}:moving"
