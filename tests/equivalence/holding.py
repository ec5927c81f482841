"""A release in which each secret and each config has a service of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.equivalence import views
from tests.equivalence.judging import content
from tests.equivalence.releases import Release
from tests.equivalence.services import Service
from tests.equivalence.stories import TEXTS

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
OWNERS = dict(zip((text.name for text in TEXTS), NAMES, strict=True))


def first_release() -> Release:
    """The release with every text at its first version."""
    return Release(tuple(Service(OWNERS[text.name], texts=(text.name,)) for text in TEXTS), TEXTS)


def written_texts(release: Release) -> dict[str, str]:
    """The texts of the release, by the service that each belongs to."""
    return {name: text for name in NAMES for text in release.expected(name).values()}


def found_texts(snapshot: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """The text that each service's container finds in its place."""
    targets = {OWNERS[text.name]: text.target(owned=False) for text in TEXTS}
    return {
        name: content(container["Trees"], targets[name])
        for container in snapshot
        if (name := views.service_of(container)) in targets
    }
