"""Test vectors of the policy for Compose: applications, and what is refused of each.

    python -m tests.support.compose_vectors PROGRAM

resolves all of them with a Docker Compose and stores the models beside the vectors, so that unit
tests hold the node's check against what a real Compose makes of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parents[1] / "vectors" / "compose_policy"
PACKAGE: Final = "/package"
PROJECT: Final = "project"
POLICY: Final = {
    "privileged": "deny",
    "host_paths": [],
    "devices": [],
    "host_namespaces": "deny",
    "capabilities": [],
    "registries": ["*"],
}


@dataclass(frozen=True)
class Vector:
    """One application, and what the policy refuses of it."""

    name: str
    theme: str
    service: dict[str, Any] | None = None
    top: dict[str, Any] = field(default_factory=dict)
    compose: str = ""
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, str | None] = field(default_factory=dict)  # path to the key that opens it
    opened_by: dict[str, Any] | None = None
    still_refused_by: dict[str, Any] | None = None
    newer: str = ""  # the first version of Compose that knows its keys
    unresolved: bool = False  # Compose refuses it, or leaves out what is refused

    @property
    def texts(self) -> dict[str, str]:
        """The files of the component."""
        whole = {"services": {"web": {"image": "registry.site/web:1", **(self.service or {})}}}
        return {"compose.yaml": self.compose or json.dumps({**whole, **self.top}), **self.files}

    @property
    def expected(self) -> set[tuple[str, str | None]]:
        """The places that are refused, each with the key that opens it."""
        return {
            (path[1:] if path.startswith("/") else f"services.web.{path}", opens)
            for path, opens in self.refused.items()
        }

    def policy_with(self, keys: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the default policy with other keys."""
        return {**POLICY, **(self.policy if keys is None else keys)}


def load() -> list[Vector]:
    """Return all vectors."""
    return [
        Vector(theme=path.stem, **case)
        for path in sorted(FOLDER.glob("*.yaml"))
        for case in yaml.safe_load(path.read_text())
    ]


def versions() -> dict[str, dict[str, Any]]:
    """Return the stored models by version of Compose, then by theme and name."""
    return {
        path.stem: json.loads(path.read_text()) for path in sorted((FOLDER / "resolved").glob("*"))
    }


def version_of(program: str) -> str:
    """Return the version of a Docker Compose, like `2.26`."""
    told = subprocess.run([program, "version", "--short"], capture_output=True, text=True)
    return ".".join(told.stdout.strip().removeprefix("v").split(".")[:2])


def known_by(vector: Vector, version: str) -> bool:
    """Return whether a version of Compose resolves the vector."""
    return not vector.unresolved and _numbers(version) >= _numbers(vector.newer or "0.0")


def resolve(program: str, vector: Vector) -> dict[str, Any]:
    """Return the model that Compose makes of a vector's files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in vector.texts.items():
            file = Path(folder) / "p" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        variables = Path(folder) / "variables"
        variables.write_text("".join(f"{name}={text}\n" for name, text in vector.variables.items()))
        place = Path(folder) / "p"
        env_files = [path for path in (place / ".env", variables) if path.exists()]
        done = subprocess.run(
            [
                program,
                *("--project-name", PROJECT, "--project-directory", str(place)),
                *(word for path in env_files for word in ("--env-file", str(path))),
                *("--file", str(place / "compose.yaml"), "config", "--format", "json"),
            ],
            capture_output=True,
            text=True,
            env={},
        )
        assert done.returncode == 0, f"{vector.name}: {done.stderr}"
        model: dict[str, Any] = json.loads(done.stdout.replace(str(place), PACKAGE))
        return model


def resolve_all(program: str) -> dict[str, Any]:
    """Return the models of all vectors that a Docker Compose knows."""
    version = version_of(program)
    return {
        f"{vector.theme}: {vector.name}": resolve(program, vector)
        for vector in load()
        if known_by(vector, version)
    }


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


if __name__ == "__main__":
    stored = FOLDER / "resolved" / f"{version_of(sys.argv[1])}.json"
    stored.parent.mkdir(exist_ok=True)
    stored.write_text(json.dumps(resolve_all(sys.argv[1]), indent=1, sort_keys=True) + "\n")
