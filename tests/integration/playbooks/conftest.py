"""A site of two nodes that no runner has claimed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support.hand import Hand


@pytest.fixture
def hand(lab: Lab, tmp_path: Path) -> Iterator[Hand]:
    """Somebody with a checkout and nodes on which nothing is deployed."""
    hand = Hand(lab, tmp_path)
    hand.clean()
    yield hand
    hand.clean()
