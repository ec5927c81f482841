"""Nodes that stories are led on, by their engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab import Engine, Lab
from tests.equivalence.oracle import Oracle, opened


@pytest.fixture(scope="module")
def oracle(request: pytest.FixtureRequest, lab: Lab) -> Iterator[Oracle]:
    """Two nodes with podman, or with the engine that is this fixture's parameter."""
    with opened(lab, Engine(getattr(request, "param", "podman"))) as made:
        yield made
