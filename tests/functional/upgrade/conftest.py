"""The disks that earlier versions left, restored for a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import fixture_sets, postgres
from tests.support.fixture_sets import FixtureSet


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL of this run's own."""
    with postgres.server() as server:
        yield server


@pytest.fixture(params=fixture_sets.sets(), ids=fixture_sets.names())
def fixture_set(request: pytest.FixtureRequest) -> FixtureSet:
    """Each kept set in turn."""
    fixture_set: FixtureSet = request.param
    return fixture_set
