"""Rows that Git does not know, carried from an old database into a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, inspect, select
from sqlalchemy.exc import DatabaseError

from controller.store import documents
from controller.store.audit import PRUNED
from controller.store.models import AppSource, AuditEntry, Fact, Site, SiteToken, Token, User
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

    from controller.store.columns import Base

_KINDS: tuple[type[Base], ...] = (User, Token, AppSource, SiteToken, AuditEntry, Fact)


def take(session: Session) -> dict[str, list[dict[str, Any]]]:
    """People, tokens, sources and the audit, by table; MargraveError when unreadable."""
    try:
        return {
            kind.__tablename__: [_columns(row) for row in session.scalars(_carried(kind))]
            for kind in _KINDS
        }
    except DatabaseError as error:
        raise MargraveError(f"cannot be read: {error.orig}", "restore a backup") from error


def applied_commits(session: Session) -> dict[str, str]:
    """Return the commit that each site has applied; MargraveError when unreadable."""
    try:
        return documents.applied_commits(session)
    except DatabaseError as error:
        raise MargraveError(f"cannot be read: {error.orig}", "restore a backup") from error


def put(session: Session, rows: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Put them into a new database; the sites that are left without a token."""
    sites = set(session.scalars(select(Site.name)))
    for kind in _KINDS:
        for values in rows.get(kind.__tablename__, ()):
            if kind is not SiteToken or values["site"] in sites:
                session.add(kind(**values))
        session.flush()
    with_token = set(session.scalars(select(SiteToken.site).where(SiteToken.revoked_at.is_(None))))
    return sorted(sites - with_token)


def _carried(kind: type[Base]) -> Select[Any]:
    """Return the rows to carry: of the facts only where the chain of the audit begins."""
    return select(Fact).where(Fact.name == PRUNED) if kind is Fact else select(kind)


def _columns(row: Base) -> dict[str, Any]:
    return {column.key: getattr(row, column.key) for column in inspect(type(row)).column_attrs}
