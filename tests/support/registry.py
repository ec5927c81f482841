"""A small honest image registry: it knows tags and their digests, and can be ill."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from tests.support.small_server import Asked, SmallServer, Told

BASE, OWN = 5_000_000, 1_000  # bytes of the layer that all share, and of each image's own


@dataclass
class FakeRegistry(SmallServer):
    """Every tag exists, with a digest made of its name, unless the test says otherwise."""

    missing: set[str] = field(default_factory=set)
    ill: bool = False
    asked: list[str] = field(default_factory=list)

    def answer(self, asked: Asked) -> Told:
        """A digest to HEAD; to GET a manifest: a layer that all images share, one of its own."""
        self.asked.append(asked.path)
        if self.ill:
            return Told(503)
        if asked.method == "HEAD":
            image = asked.path.split("/manifests/")[0].removeprefix("/v2/")
            if image in self.missing:
                return Told(404)
            return Told(headers={"Docker-Content-Digest": digest_of(asked.path)})
        own = {"digest": digest_of(asked.path.split("@")[-1]), "size": OWN}
        return Told(body={"layers": [{"digest": digest_of("base"), "size": BASE}, own]})


def digest_of(path: str) -> str:
    return "sha256:" + hashlib.sha256(path.encode()).hexdigest()
