"""Judgement of one package on one route: how it ended, and everything that is wrong about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tests.escape import differences
from tests.escape.catalogue import COMPONENT, MARKER, Expectation, Package
from tests.escape.differences import Listing

# The engine was asked to start the package, and could not.
ENGINES_OWN = "cannot-start"


@dataclass(frozen=True)
class Verdict:
    """Result of one package on one route; right when there are no findings."""

    package: str
    route: str  # admission | push | module
    engine: str
    end: str
    findings: tuple[str, ...]

    def __str__(self) -> str:
        right = "; ".join(self.findings) or "right"
        return f"{self.package} ({self.route}, {self.engine}) ended as {self.end}: {right}"


@dataclass(frozen=True)
class Evidence:
    """Observations of a package on a node."""

    state: str
    error: Mapping[str, Any]
    answer: Any  # everything that was reported of it
    before: Listing
    after: Listing
    connections: Sequence[str] = ()

    @property
    def end(self) -> str:
        """The end in one line."""
        if not self.error:
            return self.state
        text = f"{self.error.get('class')}/{self.error.get('code')}: {self.error.get('message')}"
        return f"{self.state} {text[:200]}".strip()


def judge(package: Package, route: str, engine: str, evidence: Evidence) -> Verdict:
    """Hold what was seen against what must become of the package."""
    found = _end(package, evidence)
    differing = differences.between(evidence.before, evidence.after, [package.deployment])
    # What runs needs images, and engines keep them without an owner.
    runs = package.expect is Expectation.RUNS
    found += [line for line in differing if not (runs and line.startswith("objects: image "))]
    if package.expect is Expectation.REFUSED:
        started = differences.started(evidence.after, [package.deployment])
        found += [f"was started: {name}" for name in started]
    found += [f"the node connected to the listener: {peer}" for peer in evidence.connections]
    if MARKER in json.dumps(evidence.answer):
        found.append("the report shows the node's secret")
    found += _rewritten(package, evidence.after)
    return Verdict(package.name, route, engine, evidence.end, tuple(found))


def _end(package: Package, evidence: Evidence) -> list[str]:
    refused = evidence.error.get("class") == "config" and evidence.error.get("code") != ENGINES_OWN
    if package.expect is Expectation.REFUSED and not refused:
        return [f"was not refused: {evidence.end}"]
    if package.expect is Expectation.RUNS and evidence.state != "INSTALLED":
        return [f"does not run: {evidence.end}"]
    return []


def _rewritten(package: Package, after: Listing) -> list[str]:
    """Files of the package that are not on the node as they were published."""
    root = f"/var/lib/margrave/deployments/{package.deployment}/"
    digests = {name: sha256(data).hexdigest() for name, data in package.files.items()}
    found = []
    for path, value in after["files"].items():
        if f"/{COMPONENT}.rendered/" in path:
            continue  # written by the module, not by the package
        names = [name for name in digests if path.endswith(f"/{name}")]
        # `compose.yaml` ends the path of `more/compose.yaml`, too.
        if path.startswith(root) and names and value[-1] != digests[max(names, key=len)]:
            found.append(f"{path} differs from what was published")
    return found
