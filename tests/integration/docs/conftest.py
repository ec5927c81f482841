"""A reader for the tests of a file: a node where nothing was ever deployed, an empty folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.docs.reader import NODE, Reader
from tests.support.shop import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab


@pytest.fixture(scope="module")
def reader(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Somebody with a node on which nothing was ever deployed."""
    clean(lab, NODE)
    reader = Reader(lab, tmp_path_factory.mktemp("reader"))
    yield reader
    # The node is other tests' too: they begin with one that no runner was let into.
    reader.types("margrave node remove --site harbor --forget --yes press-1")
    reader.ends()
    clean(lab, NODE)
