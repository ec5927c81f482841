"""`margrave controller rebuild`: an empty database filled from Git, sources and the old one."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.catalog import Catalog
from controller.keeping.backup import must_be_stopped
from controller.publish import Publisher, Repository
from controller.store import Store, carrying
from margrave.errors import MargraveError, Refused

if TYPE_CHECKING:
    from controller.settings import ControllerSettings

LOG = logging.getLogger(__name__)


def rebuild(settings: ControllerSettings) -> dict[str, Any]:
    """Make the database anew; what runners know comes with their next snapshots.

    People, tokens and sources are carried over when the old database can be read; otherwise
    `without_token` names the sites that need a new one.
    """
    must_be_stopped(settings)
    database = Path(settings.database_url.removeprefix("sqlite:///"))
    if str(database) == settings.database_url:
        raise Refused("the database is not SQLite", "empty it, and run migrate and rebuild")
    carried = _carried(settings, database)
    aside = _move_aside(database)
    store = Store(settings.database_url)
    try:
        store.migrate()
        repository = Repository(settings)
        repository.prepare()
        head = Publisher(store, settings, _now, repository).refresh()
        with store.write() as session:
            without = carrying.put(session, carried)
        findings = _sync(settings, store, carried)
    finally:
        store.close()
    return {
        "head": head,
        "aside": str(aside) if aside else None,
        "carried": {name: len(rows) for name, rows in carried.items()},
        "without_token": without,
        "findings": findings,
    }


def _carried(settings: ControllerSettings, database: Path) -> dict[str, list[dict[str, Any]]]:
    if not database.is_file():
        return {}
    old = Store(settings.database_url)
    try:
        with old.session() as session:
            return carrying.take(session)
    except MargraveError as error:
        LOG.warning("the old database cannot be read: %s", error)
        return {}
    finally:
        old.close()


def _move_aside(database: Path) -> Path | None:
    if not database.is_file():
        return None
    aside = database.parent / f"before-rebuild-{_now().strftime('%Y%m%dT%H%M%S')}"
    aside.mkdir()
    for suffix in ("", "-wal", "-shm"):
        old = database.with_name(database.name + suffix)
        if old.exists():
            old.rename(aside / old.name)
    return aside


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
    return told


def _now() -> datetime:
    return datetime.now(UTC)
