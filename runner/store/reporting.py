"""Changes of the whole site's state that are told at once."""

from __future__ import annotations

from typing import Any

from runner.store import outbox, site
from runner.store.engine import Transaction
from runner.store.resources import site_resource
from runner.store.values import SiteState


def change_site(tx: Transaction, **changes: Any) -> SiteState:
    """Set some of the site's fields and tell it; silent when they are so already."""
    before = site.site_state(tx)
    after = site.change_site(tx, **changes)
    if after != before:
        outbox.append(tx, "site", site_resource(after))
    return after


def stand_down(tx: Transaction, why: str) -> None:
    """Begin nothing any more; the first reason stays, since it says what was met."""
    if site.site_state(tx).stood_down is None:
        change_site(tx, stood_down=why)
