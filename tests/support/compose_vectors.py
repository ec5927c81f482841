"""Test vectors of the policy for Compose: applications, and what is refused of each.

    python -m tests.support.compose_vectors PROGRAM

resolves all of them with a Docker Compose and stores the models beside the vectors, so that unit
tests hold the node's check against what a real Compose makes of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
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


# Runs where a Compose is, on a node too: the standard library of Python 3.9 is all that it needs.
RESOLVE: Final = """
import json, os, subprocess, sys, tempfile
program, models = sys.argv[1], {}
for vector in json.load(sys.stdin):
    with tempfile.TemporaryDirectory() as folder:
        package, variables = os.path.join(folder, "p"), os.path.join(folder, "variables")
        vector["files"].setdefault(".env", "")
        for name, text in vector["files"].items():
            path = os.path.join(package, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        with open(variables, "w") as file:
            file.writelines("%s=%s\\n" % pair for pair in vector["variables"].items())
        command = [program, "--project-name", "project", "--project-directory", package]
        command += ["--env-file", os.path.join(package, ".env"), "--env-file", variables]
        command += ["--file", os.path.join(package, "compose.yaml"), "config", "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={})
        told = done.stdout.decode().replace(package, "/package")
        models[vector["name"]] = json.loads(told) if not done.returncode else done.stderr.decode()
json.dump(models, sys.stdout)
"""


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


def known_by(vector: Vector, version: str) -> bool:
    """Return whether a version of Compose resolves the vector."""
    return not vector.unresolved and _numbers(version) >= _numbers(vector.newer or "0.0")


def resolved(answer: str) -> dict[str, Any]:
    """Return the models that RESOLVE printed, with the package at its place; all or none."""
    models: dict[str, Any] = json.loads(answer)
    failed = {name: model for name, model in models.items() if isinstance(model, str)}
    assert not failed, failed
    return models


def questions(version: str) -> str:
    """Return what RESOLVE reads, for the vectors that a version of Compose resolves."""
    known = [vector for vector in load() if known_by(vector, version)]
    return json.dumps(
        [
            {
                "name": f"{vector.theme}: {vector.name}",
                "files": vector.texts,
                "variables": vector.variables,
            }
            for vector in known
        ]
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def main() -> None:
    """Store the models of all vectors."""
    program = sys.argv[1]
    told = subprocess.run([program, "version", "--short"], capture_output=True, text=True)
    version = ".".join(told.stdout.strip().removeprefix("v").split(".")[:2])
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE, program],
        input=questions(version),
        capture_output=True,
        text=True,
        check=True,
    )
    stored = FOLDER / "resolved" / f"{version}.json"
    stored.parent.mkdir(exist_ok=True)
    stored.write_text(json.dumps(resolved(done.stdout), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
