"""Queries of the catalogue: sources, applications, versions and component contents."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, exists, func, or_, select, update

from controller.store import facts
from controller.store.models import (
    App,
    AppSource,
    AppVersion,
    Component,
    Deployment,
    VersionComponent,
)
from controller.store.shapes import stamp
from margrave import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

Row = tuple[tuple[str], dict[str, Any]]


def sources(session: Session, *, after: str = "", limit: int = 200) -> list[Row]:
    """Sources by name, each with its key."""
    query = select(AppSource).where(AppSource.name > after).order_by(AppSource.name).limit(limit)
    return [((row.name,), _source(row)) for row in session.scalars(query)]


def source(session: Session, name: str) -> dict[str, Any] | None:
    """A source, or None."""
    row = session.get(AppSource, name)
    return _source(row) if row else None


def sources_synced_before(session: Session, moment: datetime) -> list[str]:
    """Names of the sources whose last sync is older, or never was; the longest ago first."""
    old = or_(AppSource.synced_at.is_(None), AppSource.synced_at < moment)
    turn = (AppSource.synced_at.asc().nulls_first(), AppSource.name)
    return list(session.scalars(select(AppSource.name).where(old).order_by(*turn)))


def places(session: Session) -> list[tuple[str, str, str | None]]:
    """Name, URL and ref of every source."""
    query = select(AppSource.name, AppSource.url, AppSource.ref).order_by(AppSource.name)
    return [(row.name, row.url, row.ref) for row in session.execute(query)]


def failing(session: Session) -> list[tuple[str, str]]:
    """Every source whose last sync did not come through, and why."""
    query = select(AppSource.name, AppSource.error).where(AppSource.error.is_not(None))
    rows = session.execute(query.order_by(AppSource.name))
    return [(row.name, row.error) for row in rows if row.error]


def ask(session: Session, names: Iterable[str]) -> None:
    """These sources are to be read before their turn, by whichever controller reads sources."""
    new = {name: uuid.uuid4().hex for name in names}
    facts.put(session, facts.ASKED, {**asked(session), **new})


def asked(session: Session) -> dict[str, str]:
    """Sources that are to be read before their turn, each with the mark of who asked last."""
    return facts.get(session, facts.ASKED) or {}


def answered(session: Session, name: str, mark: str) -> None:
    """The source was read after that mark; who asked meanwhile is not forgotten."""
    known = asked(session)
    if known.get(name) == mark:
        facts.put(session, facts.ASKED, {one: known[one] for one in known if one != name})


def add_source(session: Session, values: Mapping[str, Any], now: datetime) -> None:
    """Store a new source; credentials are the name of a file, kept as a reference."""
    reference = {"name": values["credentials"]} if values.get("credentials") else None
    fields = {**values, "credentials": reference}
    session.add(AppSource(**fields, created_at=now, findings=[]))
    session.flush()


def remove_source(session: Session, name: str) -> None:
    """Delete a source; its versions stay where a deployment uses them."""
    forget_versions(session, name, keep=())
    session.execute(delete(AppSource).where(AppSource.name == name))


def synced(
    session: Session, name: str, commit: str | None, findings: list[Any], now: datetime
) -> None:
    """Note what a sync found."""
    values = {"commit": commit, "findings": findings, "synced_at": now, "error": None}
    session.execute(update(AppSource).where(AppSource.name == name).values(**values))


def sync_failed(session: Session, name: str, error: str, now: datetime) -> None:
    """Note why a sync did not come through; what is known stays."""
    values = {"error": error, "synced_at": now}
    session.execute(update(AppSource).where(AppSource.name == name).values(**values))


def version_facts(session: Session, app: str, version: str) -> dict[str, Any] | None:
    """Of a version: id, digest, usable, source; None when it is not known."""
    query = select(AppVersion.id, AppVersion.digest, AppVersion.usable, AppVersion.source)
    row = session.execute(
        query.where(AppVersion.app_id == app, AppVersion.version == version)
    ).one_or_none()
    return dict(row._mapping) if row else None


def note_findings(session: Session, version_id: int, findings: list[Any]) -> None:
    """Show findings at a version whose stored content stays."""
    session.execute(update(AppVersion).where(AppVersion.id == version_id).values(findings=findings))


def put_version(
    session: Session, values: Mapping[str, Any], components: Mapping[str, bytes], now: datetime
) -> None:
    """Store a version with its component contents, in place of what the key had before."""
    if session.get(App, values["app_id"]) is None:
        session.add(App(id=values["app_id"], newest=None, created_at=now))
        session.flush()
    facts = version_facts(session, values["app_id"], values["version"])
    if facts is None:
        row = AppVersion(**values, created_at=now)
        session.add(row)
        session.flush()
        key = row.id
    else:
        key = facts["id"]
        session.execute(update(AppVersion).where(AppVersion.id == key).values(**values))
        session.execute(delete(VersionComponent).where(VersionComponent.version_id == key))
    for path, archive in components.items():
        name = put_component(session, archive, now)
        session.add(VersionComponent(version_id=key, path=path, digest=name))
    session.flush()


def put_component(session: Session, archive: bytes, now: datetime) -> str:
    """Keep an archive under its digest, which is given back."""
    name = digest.of_bytes(archive)
    known = session.scalar(select(func.count()).where(Component.digest == name))
    if not known:
        session.add(Component(digest=name, archive=archive, size=len(archive), created_at=now))
        session.flush()
    return name


def forget_versions(session: Session, source_name: str, keep: Collection[tuple[str, str]]) -> None:
    """Remove the source's versions but those to keep and those that a deployment uses."""
    query = select(AppVersion).where(AppVersion.source == source_name)
    for row in session.scalars(query).all():
        if (row.app_id, row.version) in keep:
            continue
        used = session.scalar(
            select(
                exists().where(
                    Deployment.app == row.app_id,
                    Deployment.version == row.version,
                    Deployment.deleted_at.is_(None),
                )
            )
        )
        if not used:
            session.delete(row)
    session.flush()
    without = ~exists().where(AppVersion.app_id == App.id)
    session.execute(delete(App).where(without))


def versions_by_app(session: Session) -> dict[str, dict[str, bool]]:
    """All versions of all applications, and whether each can be deployed."""
    found: dict[str, dict[str, bool]] = {}
    query = select(AppVersion.app_id, AppVersion.version, AppVersion.usable)
    for app, version, usable in session.execute(query):
        found.setdefault(app, {})[version] = usable
    return found


def usable_versions(session: Session) -> dict[tuple[str, str], str]:
    """The digest of each version that can be deployed, by application and version."""
    query = select(AppVersion.app_id, AppVersion.version, AppVersion.digest)
    rows = session.execute(query.where(AppVersion.usable))
    return {(app, version): digest for app, version, digest in rows}


def name_newest(session: Session, app: str, version: str | None) -> None:
    """Say which version lists show."""
    session.execute(update(App).where(App.id == app).values(newest=version))


def version_content(session: Session, app: str, version: str) -> dict[str, Any] | None:
    """What a deployment of a version needs: text, digest, components {path: digest}; else None."""
    query = select(AppVersion).where(
        AppVersion.app_id == app, AppVersion.version == version, AppVersion.usable
    )
    row = session.scalar(query)
    if row is None:
        return None
    links = select(VersionComponent.path, VersionComponent.digest).where(
        VersionComponent.version_id == row.id
    )
    components = {row.path: row.digest for row in session.execute(links)}
    return {"text": row.text, "digest": row.digest, "components": components}


def component(session: Session, name: str) -> bytes | None:
    """A component's canonical archive by its digest, or None."""
    return session.scalar(select(Component.archive).where(Component.digest == name))


def _source(row: AppSource) -> dict[str, Any]:
    return {
        "name": row.name,
        "url": row.url,
        "ref": row.ref,
        "path": row.path,
        "credentials": (row.credentials or {}).get("name"),
        "commit": row.commit,
        "error": row.error,
        "findings": row.findings,
        "synced_at": stamp(row.synced_at),
        "created_at": stamp(row.created_at),
    }
