"""Status reports before rc.2: a head with version and kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margrave.documents.generations._kinds import Generation, Kind

if TYPE_CHECKING:
    from margrave.documents.generations._draft import Draft


def change(draft: Draft) -> Generation:
    """Drops the head; the manifest's version can be told by the sender only."""
    draft.drop_head(Kind.STATUS, "rc.2")
    return Generation.LEGACY
