"""Queries of applications as people read them: lists and details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select

from controller.store.models import App, AppVersion
from controller.store.shapes import stamp
from controller.versions import order

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

Row = tuple[tuple[str], dict[str, Any]]


def listed(session: Session, *, q: str = "", after: str = "", limit: int = 200) -> list[Row]:
    """Applications by id, each at its newest version; `q` is looked for in id, name and words."""
    newest = and_(AppVersion.app_id == App.id, AppVersion.version == App.newest)
    query = select(AppVersion).join(App, newest).where(App.id > after)
    if q:
        wanted = f"%{_plain(q)}%"
        columns = (AppVersion.app_id, AppVersion.name, AppVersion.about)
        query = query.where(or_(*(column.ilike(wanted, escape="\\") for column in columns)))
    rows = list(session.scalars(query.order_by(App.id).limit(limit)))
    versions = _versions(session, [row.app_id for row in rows])
    return [((row.app_id,), _app(row, versions[row.app_id])) for row in rows]


def one(session: Session, app: str, version: str | None = None) -> dict[str, Any] | None:
    """An application at a version, the newest when none is named; None when it is not known."""
    wanted = version
    if wanted is None:
        wanted = session.scalar(select(App.newest).where(App.id == app))
    row = session.scalar(
        select(AppVersion).where(AppVersion.app_id == app, AppVersion.version == wanted)
    )
    return _app(row, _versions(session, [app])[app]) if row else None


def names(session: Session) -> list[str]:
    """All ids."""
    return list(session.scalars(select(App.id).order_by(App.id)))


def usable_versions(session: Session, app: str) -> list[str]:
    """Versions that can be deployed, in no order; empty when the application is not known."""
    query = select(AppVersion.version).where(AppVersion.app_id == app, AppVersion.usable)
    return list(session.scalars(query))


def _versions(session: Session, apps: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {app: [] for app in apps}
    query = select(AppVersion.app_id, AppVersion.version).where(AppVersion.app_id.in_(apps))
    for app, version in session.execute(query.order_by(AppVersion.id)):
        found[app].append(version)
    return found


def _app(row: AppVersion, versions: list[str]) -> dict[str, Any]:
    return {
        "id": row.app_id,
        "name": row.name,
        "version": row.version,
        "versions": sorted(versions, key=order, reverse=True),
        "description": row.about,
        "source": row.source,
        "folder": row.folder,
        "commit": row.commit,
        "digest": row.digest,
        "usable": row.usable,
        "profiles": [_profile(one) for one in _listed(row.description.get("deploymentProfiles"))],
        "parameters": _parameters(row.description),
        "findings": row.findings,
        "created_at": stamp(row.created_at),
    }


def _profile(profile: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": profile.get("id"),
        "type": profile.get("type"),
        "description": profile.get("description"),
        "components": [_component(one) for one in _listed(profile.get("components"))],
        "device_constraints": profile.get("deviceConstraints"),
    }


def _component(component: dict[str, Any]) -> dict[str, Any]:
    properties = component.get("properties")
    return {
        "name": component.get("name"),
        **(properties if isinstance(properties, dict) else {}),
    }


def _parameters(description: dict[str, Any]) -> list[dict[str, Any]]:
    settings = _settings(description)
    parameters = description.get("parameters")
    return [
        {
            "name": name,
            "default": one.get("value") if isinstance(one, dict) else None,
            "targets": one.get("targets") if isinstance(one, dict) else None,
            **settings.get(name, {"title": None, "description": None, "schema": None}),
        }
        for name, one in sorted((parameters if isinstance(parameters, dict) else {}).items())
    ]


def _settings(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """How people are asked for each parameter; a broken description may hold anything."""
    found = description.get("configuration")
    configuration: dict[str, Any] = found if isinstance(found, dict) else {}
    schemas = {one.get("name"): one for one in _listed(configuration.get("schema"))}
    return {
        str(setting.get("parameter")): {
            "title": setting.get("name"),
            "description": setting.get("description"),
            "schema": schemas.get(setting.get("schema")),
        }
        for section in _listed(configuration.get("sections"))
        for setting in _listed(section.get("settings"))
    }


def _listed(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _plain(text: str) -> str:
    """LIKE's own characters taken as themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
