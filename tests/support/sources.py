"""A site's view of a repository, with its clone and components below a folder."""

from __future__ import annotations

from pathlib import Path

from runner.source import Access, Clone, Components, Source
from tests.support.repository import Repository


def make_source(base: Path, repository: Repository, remote: str = "") -> Source:
    """Harbor's; the remote is the repository's path where no other way to it is named."""
    clone = Clone(base / "state/source.git", Access(remote or str(repository.bare)))
    return Source("harbor", clone, Components(base / "state/components"))
