"""A real forge for a module of tests: started once, skipped with the reason where it cannot be."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from lab.errors import NotPossibleHere
from lab.forge import Forge, build

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def served(folder: Path) -> Iterator[Forge]:
    """Serve Gitea with a person and nothing else."""
    try:
        build()
    except NotPossibleHere as error:
        pytest.skip(str(error))
    forge = Forge(folder)
    forge.start()
    try:
        yield forge
    finally:
        forge.stop()
