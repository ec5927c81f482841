"""Tables of the catalogue: sources, applications, their versions and component contents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from controller.store.columns import Base, Commit, Compressed, Digest, LongText, NumberKey


class AppSource(Base):
    """A registry of application packages: a folder or a Git repository."""

    __tablename__ = "app_sources"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    url: Mapped[LongText]
    ref: Mapped[str | None]
    path: Mapped[str] = mapped_column(default="")
    credentials: Mapped[dict[str, Any] | None]  # references to secrets, never the secrets
    commit: Mapped[Commit | None]
    error: Mapped[LongText | None]  # why the last sync did not come through
    findings: Mapped[list[Any]] = mapped_column(default=list)
    synced_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


class App(Base):
    """An application; its newest valid version is what lists show."""

    __tablename__ = "apps"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    newest: Mapped[str | None]
    created_at: Mapped[datetime]


class AppVersion(Base):
    """One version of an application: what it was at its first sync, for good."""

    __tablename__ = "app_versions"
    __table_args__ = (UniqueConstraint("app_id", "version"),)

    id: Mapped[NumberKey]
    app_id: Mapped[str] = mapped_column(ForeignKey("apps.id", ondelete="CASCADE"))
    version: Mapped[str]
    source: Mapped[str | None] = mapped_column(
        ForeignKey("app_sources.name", ondelete="SET NULL"), index=True
    )
    folder: Mapped[LongText]  # inside the source
    commit: Mapped[Commit | None]
    digest: Mapped[Digest]  # of margo.yaml and all component folders
    name: Mapped[str]
    about: Mapped[LongText]
    text: Mapped[LongText]  # margo.yaml as it was read
    description: Mapped[dict[str, Any]]  # the same, parsed
    findings: Mapped[list[Any]] = mapped_column(default=list)
    usable: Mapped[bool]  # no error among the findings
    created_at: Mapped[datetime]


class Component(Base):
    """A component folder's content by its digest: the canonical archive."""

    __tablename__ = "components"

    digest: Mapped[Digest] = mapped_column(primary_key=True)
    archive: Mapped[bytes] = mapped_column(Compressed)
    size: Mapped[int]
    created_at: Mapped[datetime]


class VersionComponent(Base):
    """Which content a version's component path has."""

    __tablename__ = "app_version_components"

    version_id: Mapped[int] = mapped_column(
        ForeignKey("app_versions.id", ondelete="CASCADE"), primary_key=True
    )
    path: Mapped[str] = mapped_column(String(1024), primary_key=True)
    digest: Mapped[Digest] = mapped_column(ForeignKey("components.digest"), index=True)
