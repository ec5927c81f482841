"""`margrave controller rebuild`: an empty database filled from Git, sources and the old one."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from controller.catalog import Catalog
from controller.keeping.backup import (
    DATABASE,
    aside_folder,
    must_be_stopped,
    nearby,
    put_database,
    silent,
)
from controller.publish import Publisher, Repository
from controller.store import Store, access, carrying
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.settings import ControllerSettings

LOG = logging.getLogger(__name__)


def rebuild(settings: ControllerSettings, tell: Callable[[str], None] = silent) -> dict[str, Any]:
    """Make the database anew; what runners know comes with their next snapshots.

    People, tokens and sources are carried over when the old database can be read; otherwise
    `without_token` names the sites that need a new one, `without_admin` tells that nobody can
    sign in to make it, `without_sources` that nothing can be deployed or updated.
    """
    must_be_stopped(settings)
    settings.state.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    carried = _carried(settings)
    aside = aside_folder(settings, "rebuild")
    # Made whole beside the old one: ending in the middle leaves that as it was.
    with nearby(settings.state.dir) as folder:
        store = Store(f"sqlite:///{folder / DATABASE}")
        try:
            store.migrate()
            tell("reading the repository")
            repository = Repository(settings)
            repository.prepare()
            head = Publisher(store, settings, _now, repository).refresh()
            with store.write() as session:
                without = carrying.put(session, carried)
                no_admin = not access.admins(session)
            tell("reading the sources")
            findings = _sync(settings, store, carried)
        finally:
            store.close()
        put_database(settings, folder / DATABASE, aside)
    return {
        "head": head,
        "aside": str(aside) if aside.exists() else None,
        "carried": {name: len(rows) for name, rows in carried.items()},
        "without_token": without,
        "without_admin": no_admin,
        "without_sources": not carried.get("app_sources"),
        "findings": findings,
    }


def _carried(settings: ControllerSettings) -> dict[str, list[dict[str, Any]]]:
    """What Git does not know: people, tokens, sources, the audit; nothing when it is lost."""
    old = Store(settings.database_url)
    try:
        with old.session() as session:
            return carrying.take(session)
    except MargraveError as error:
        LOG.warning("the old database cannot be read: %s", error)
        return {}
    finally:
        old.close()


def _sync(
    settings: ControllerSettings, store: Store, carried: dict[str, list[dict[str, Any]]]
) -> list[str]:
    """Read the sources again; one that does not answer now is read on the timer."""
    catalog = Catalog(store, settings, _now)
    told = []
    for row in carried.get("app_sources", []):
        try:
            catalog.sync(row["name"])
        except MargraveError as error:
            told.append(f"source {row['name']}: {error}")
        except Exception as error:  # one source, and everything else is rebuilt
            LOG.exception("source %s cannot be read", row["name"])
            told.append(f"source {row['name']}: a defect: {error!r}")
    return told


def _now() -> datetime:
    return datetime.now(UTC)
