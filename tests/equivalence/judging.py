"""Checks of containers against their release, and descriptions of failed answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.equivalence import views
from tests.equivalence.nodes import Snapshot
from tests.equivalence.releases import Release


def missing_sources(snapshot: Snapshot) -> list[str]:
    """Return mounts whose source is not on the node any more."""
    return [
        f"{views.name_of(container)}: mount source {source} is missing"
        for container in snapshot
        for source in container["Missing"]
    ]


def wrong_content(snapshot: Snapshot, release: Release) -> list[str]:
    """Compare the content in containers with the texts that author and operator wrote."""
    findings = []
    for container in snapshot:
        name = views.service_of(container)
        if name not in {service.name for service in release.services}:
            continue  # the comparison with the fresh install reports it
        if not container["Trees"]:
            continue  # an ended container has no process to look through
        for path, text in sorted(release.expected(name).items()):
            actual = content(container["Trees"], path)
            if actual != text:
                findings.append(f"{name}: {path} holds {actual!r}, not {text!r}")
    return findings


def content(trees: Mapping[str, Any], path: str) -> str | None:
    """Return the text that a container holds at a path, or None where there is no file."""
    entry = (trees.get(path) or {}).get("")
    return entry[3] if entry and len(entry) > 3 else None


def failure_of(answer: Mapping[str, Any]) -> str:
    """Describe the failure in a module's answer."""
    keys = ("error", "msg", "rc", "module_stderr")
    details = {key: answer[key] for key in keys if answer.get(key)}
    return json.dumps(details) if details else f"{answer.get('state')}"
