"""State manifests of the legacy draft: addresses that name the client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from margrave.documents._walk import EACH, texts
from margrave.documents.generations._kinds import Generation

if TYPE_CHECKING:
    from margrave.documents.generations._draft import Draft

_CLIENT = re.compile(r"(/api/v1)/clients/[^/]+/")


def change(draft: Draft) -> Generation:
    """Takes the client out of each address."""
    found = [*texts(draft.value, "bundle", "url")]
    found += texts(draft.value, "deployments", EACH, "url")
    for path, url in found:
        plain = _CLIENT.sub(r"\1/", url, count=1)
        if plain != url:
            draft.write(path, plain, "names no client since rc.2", f"write {plain}")
    return Generation.LEGACY
