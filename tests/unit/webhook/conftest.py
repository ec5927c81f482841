"""A sink, and a door that leads to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from tests.support.webhooks import Sink, client_for


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def client(sink: Sink) -> Iterator[FlaskClient]:
    yield client_for(sink)
