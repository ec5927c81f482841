"""What containers have to hold whatever any node says, and words for answers."""

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
        f"{views.name_of(told)}: mount source {source} is missing"
        for told in snapshot
        for source in told["Missing"]
    ]


def wrong_content(snapshot: Snapshot, release: Release) -> list[str]:
    """Compare what containers find with what the author and the operator wrote."""
    found = []
    for told in snapshot:
        name = views.service_of(told)
        if name not in {one.name for one in release.services}:
            continue  # the comparison with the fresh install says so
        if not told["Trees"]:
            continue  # nobody reads in a container that has ended
        for path, text in sorted(release.expected(name).items()):
            there = content(told["Trees"], path)
            if there != text:
                found.append(f"{name}: {path} holds {there!r}, not {text!r}")
    return found


def content(trees: Mapping[str, Any], path: str) -> str | None:
    """Return the text that a container finds at a path, or None where there is no file."""
    entry = (trees.get(path) or {}).get("")
    return entry[3] if entry and len(entry) > 3 else None


def words(answer: Mapping[str, Any]) -> str:
    """Return what a module's answer says of its failure."""
    told = {key: answer[key] for key in ("error", "msg", "rc", "module_stderr") if answer.get(key)}
    return json.dumps(told) if told else f"{answer.get('state')}"
