"""What Git wants of this site, checked; or why nothing is taken from it for now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from margrave.documents.deployment import Deployment
from margrave.documents.site import SiteDocument
from margrave.errors import MargraveError

SITE: Final = "site"  # among the traces, the site's own document: no deployment has such an id


@dataclass(frozen=True)
class Desired:
    """A verified commit: the site's deployments, and where their components lie."""

    commit: str
    tree: str  # the ids of the site's three subtrees: the same text is the same content
    deployments: tuple[Deployment, ...]
    site: SiteDocument
    components: Path  # <hex>/… below it
    texts: dict[str, str]  # the documents as they stand in Git, by path
    site_text: str | None = None
    secrets: Mapping[str, bytes] = field(default_factory=dict)  # encrypted files by path
    # By deployment, also of those that are gone: the id that leads to what changed it last.
    traces: Mapping[str, str] = field(default_factory=dict)
    unread: Halted | None = None  # why nothing is begun from it, although it was verified once

    def deployment(self, identifier: str) -> Deployment | None:
        """The document with this id, or None: it is not wanted."""
        return self._by_id.get(identifier)

    @cached_property
    def _by_id(self) -> dict[str, Deployment]:
        return {one.id: one for one in self.deployments}


class Halted(MargraveError):
    """The commit is not taken: what runs stays as it is until the cause is gone."""

    def __init__(self, commit: str, reason: str, cure: str) -> None:
        super().__init__(reason, cure)
        self.commit = commit
