"""A reader for the tests of a file: a node where nothing was ever deployed, an empty folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs.box import NODE, words
from tests.integration.docs.reader import Reader, start
from tests.support.shop import clean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab import Lab


@pytest.fixture(scope="module")
def reader(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader with a node on which nothing was ever deployed."""
    clean(lab, NODE)
    reader = Reader(tmp_path_factory.mktemp("reader"), words(lab))
    registry = {
        "host": "registry.margrave.lab:5000",
        "address": lab.registry_address,
        "insecure": True,
    }
    reader.settings["controller"]["MARGRAVE_REGISTRIES__JSON"] = json.dumps([registry])
    roots = json.dumps([str(reader.folder), words(lab)["https://git.example/apps.git"]])
    reader.settings["controller"]["MARGRAVE_CATALOG__LOCAL_ROOTS"] = roots
    yield reader
    reader.close()
    clean(lab, NODE)


@pytest.fixture(scope="module")
def shop(reader: Reader) -> Reader:
    """A reader who has followed `docs/start.md`: storefront 1.0.0 runs on the node."""
    reader.follow(start())
    return reader


@pytest.fixture
def controller_reader(tmp_path: Path) -> Iterator[Reader]:
    """A reader with a new controller that serves, signed in as its admin; no node, no lab."""
    reader = Reader(tmp_path, {})
    reader.type("margrave init /srv/margrave")
    reader.start("controller")
    reader.type("margrave login http://127.0.0.1:8800 --user admin")
    yield reader
    reader.close()
