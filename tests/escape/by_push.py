"""Route by a direct Git push: documents and components that no controller has seen."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from margrave import digest, folder, yaml_text
from margrave.documents.deployment import render
from tests.escape import differences, tampered
from tests.escape.catalogue import COMPONENT, Expectation, Package
from tests.escape.differences import Listing
from tests.escape.ground import TIMEOUT, Ground
from tests.escape.verdicts import Evidence, Verdict, judge
from tests.support.repository import Repository
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

Tamper = Callable[[Path, dict[str, Any]], None]
SITE = "harbor"
TOGETHER = 16
LIMIT = 300
HALTED = "HALTED"
ENDED = ("failed", "succeeded", "rolled-back", "rollback-failed")


class Pusher:
    """A runner of the node's, and the repository that people push to past the controller."""

    def __init__(self, ground: Ground) -> None:
        base = ground.base / "push"
        base.mkdir()
        self.ground = ground
        self.repository = Repository(base)
        self.repository.push()
        self.runner = RunnerProcess(base / "runner", str(self.repository.bare), SITE)

    def open(self) -> None:
        """Start the runner and onboard the node."""
        self.runner.start()
        lab, node = self.ground.lab, self.ground.node
        self.runner.add(node, lab.node(node).address, lab.key, lab.host_key(node))

    def close(self) -> None:
        """End the runner."""
        self.runner.kill(signal.SIGTERM)

    def attempt_all(self, packages: Sequence[Package]) -> Iterator[Verdict]:
        """Judge each package: those of one policy together, as long as each fails by itself."""
        for policy in _policies(packages):
            same = [package for package in packages if package.policy == policy]
            refused = [package for package in same if package.expect is Expectation.REFUSED]
            for start in range(0, len(refused), TOGETHER):
                batch = refused[start : start + TOGETHER]
                verdicts = self.attempt(batch)
                if any(verdict.findings or verdict.end.startswith(HALTED) for verdict in verdicts):
                    for package in batch:
                        verdicts = self.attempt([package])
                        yield from verdicts
                else:
                    yield from verdicts
            for package in same:
                if package.expect is not Expectation.REFUSED:
                    yield from self.attempt([package])

    def attempt_tampered(self) -> Iterator[Verdict]:
        """Judge documents and components that were changed after they were written."""
        for name, package in tampered.packages().items():
            yield from self.attempt([package], tampered.TRICKS[name].tamper)

    def attempt(self, packages: Sequence[Package], tamper: Tamper | None = None) -> list[Verdict]:
        """Judge packages that are pushed together, and take them back."""
        own = [package.deployment for package in packages]
        before = self.ground.listing()
        self.ground.listener.take()
        for package in packages:
            self._write(package, tamper)
        self._push(packages[0].policy)
        eventually(lambda: all(map(self._ended, own)) or self._halted(), LIMIT, f"{own} end", 0.2)
        after = self.ground.listing(own)
        # A difference that belongs to none of them in particular is every one's.
        shown = before if differences.between(before, after, own) else after
        connections = self.ground.listener.take()
        verdicts = [
            judge(
                package,
                "push",
                self.ground.engine,
                self._evidence(package, shown, after, connections),
            )
            for package in packages
        ]
        self._take_back(packages)
        self.ground.recover(before, own)
        return verdicts

    def _write(self, package: Package, tamper: Tamper | None) -> None:
        """Put a package's component and document into the work tree."""
        content = package.write(self.ground.base / "pushed" / package.name)
        name = digest.of_files(folder.read(content)).removeprefix("sha256:")
        place = self.repository.tree / "components" / name
        shutil.copytree(content, place, dirs_exist_ok=True)
        document = _document(package, name)
        if tamper:
            tamper(place, document)
        self.repository.write(_path(package), render(document).decode())

    def _push(self, policy: Mapping[str, Any]) -> None:
        self.repository.write(f"sites/{SITE}.yaml", yaml_text.dump({"policy": dict(policy)}))
        self.repository.push()
        self.runner.hint()

    def _take_back(self, packages: Sequence[Package]) -> None:
        """Remove the documents, and wait until nothing of the packages is on the node."""
        for package in packages:
            self.repository.remove(_path(package))
        self._push({})
        eventually(
            lambda: (
                not self._halted() and all(self._gone(package.deployment) for package in packages)
            ),
            LIMIT,
            "the packages are gone",
            0.2,
        )

    def _placement(self, deployment: str) -> Mapping[str, Any]:
        return self.runner.placements(deployment).get(self.ground.node) or {}

    def _ended(self, deployment: str) -> bool:
        found = self._placement(deployment)
        return bool(found) and found["state"] in ("INSTALLED", "FAILED")

    def _gone(self, deployment: str) -> bool:
        found = self._placement(deployment)
        return not found or found["state"] == "DELETED"

    def _halted(self) -> str:
        """Why the runner does not take the head of the repository; empty when it does."""
        halted = self.runner.status()["site"].get("halted") or {}
        return str(halted.get("reason", "")) if halted else ""

    def _evidence(
        self, package: Package, before: Listing, after: Listing, connections: Sequence[str]
    ) -> Evidence:
        halted = self._halted()
        if halted:
            error = {"class": "config", "code": "halted", "message": halted}
            return Evidence(HALTED, error, halted, before, after, connections)
        found = self._placement(package.deployment)
        error = json.loads(found["error"]) if found.get("error") else {}
        reported = [dict(found), (self.runner.base / "log").read_text()]
        return Evidence(str(found.get("state")), error, reported, before, after, connections)


@contextmanager
def pusher(ground: Ground) -> Iterator[Pusher]:
    """A running runner that has the node."""
    running = Pusher(ground)
    running.open()
    try:
        yield running
    finally:
        running.close()


def _policies(packages: Sequence[Package]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for package in packages:
        if package.policy not in found:
            found.append(package.policy)
    return found


def _path(package: Package) -> str:
    return f"deployments/{SITE}/{package.deployment}.yaml"


def _document(package: Package, source: str) -> dict[str, Any]:
    values = package.variables if package.kind == "compose" else package.values
    parameters = {
        f"p{number}": {
            "value": value,
            "targets": [{"pointer": pointer, "components": [COMPONENT]}],
        }
        for number, (pointer, value) in enumerate(values.items())
    }
    component = {
        "name": COMPONENT,
        "properties": {
            "repository": "oci://registry.margrave.lab:5000/escape",
            "revision": "1.0.0",
            "timeout": f"0m{TIMEOUT:02}s",
        },
        "x-margrave-extensions": {"source": f"components/{source}"},
    }
    name = package.name.replace("_", "-")
    return {
        "id": package.deployment,
        "metadata": {"name": name, "namespace": "default", "deviceId": f"{SITE}/*"},
        "spec": {
            "applicationId": name,
            "deploymentProfile": {"type": package.kind, "components": [component]},
            **({"parameters": parameters} if parameters else {}),
            "x-margrave-extensions": {
                "version": "1.0.0",
                "drift": "ignore",
                "failure": {
                    "retries": {"health": 0, "engine": 0, "registry": 0},
                    "backoff": "1s",
                    "then": "hold",
                },
            },
        },
    }
