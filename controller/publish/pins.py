"""Image digests of one request, and the images whose digests are still unknown."""

from __future__ import annotations

from typing import Protocol

from controller.publish.images import is_pinned
from margrave.errors import MargraveError


class Unresolved(MargraveError):
    """Documents name images that nobody has asked for yet: main has moved meanwhile."""


class Pinning(Protocol):
    """Source of digests for image references."""

    def pinned(self, text: str) -> str:
        """Return the reference with its digest."""


class Pins:
    """Digests that registries returned for a request.

    An image without a digest is noted in `missing` and returned unchanged, so that building the
    documents never waits for a registry and finds all missing images at once.
    """

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.missing: set[str] = set()

    def pinned(self, text: str) -> str:
        """Return the reference with its digest, or unchanged when that is not known yet."""
        if text in self.digests or is_pinned(text):
            return self.digests.get(text, text)
        self.missing.add(text)
        return text

    def put(self, text: str, pinned: str) -> None:
        """Keep the digest of an image."""
        self.digests[text] = pinned
        self.missing.discard(text)
