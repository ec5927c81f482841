"""Tables of the fleet: sites, their tokens and their nodes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from controller.store.columns import Base, Commit, Uuid


class Site(Base):
    """A site: what Git says of it (document and what follows from it) and what its runner says."""

    __tablename__ = "sites"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    # from sites/<site>.yaml
    document: Mapped[dict[str, Any]] = mapped_column(default=dict)
    findings: Mapped[list[Any]] = mapped_column(default=list)
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    timezone: Mapped[str | None]
    paused: Mapped[dict[str, Any] | None]  # {reason, by, until}
    drain: Mapped[bool] = mapped_column(default=False)
    wanted_commit: Mapped[Commit | None]  # the newest commit that touched the site's subtree
    # from the runner
    runner: Mapped[Uuid | None]
    epoch: Mapped[int | None]
    last_seen: Mapped[datetime | None]
    applied_commit: Mapped[Commit | None]
    locked: Mapped[dict[str, Any] | None]
    halted: Mapped[dict[str, Any] | None]
    clock_offset: Mapped[int | None]  # seconds its clock is ahead; None while it is about right
    created_at: Mapped[datetime]


class SiteToken(Base):
    """A runner's token: only its SHA-256 is kept; two may be valid while one is replaced."""

    __tablename__ = "site_tokens"

    id: Mapped[Uuid] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(ForeignKey("sites.name", ondelete="CASCADE"), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class Node(Base):
    """A node as its runner reports it; `drain` is what Git says."""

    __tablename__ = "nodes"

    site: Mapped[str] = mapped_column(
        ForeignKey("sites.name", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    address: Mapped[str | None]
    status: Mapped[str | None]  # as reported; the API judges by last_seen and the site's silence
    drain: Mapped[bool] = mapped_column(default=False)
    last_seen: Mapped[datetime | None]
    reason: Mapped[str | None]  # why its last check failed, or why nothing can run there
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    capabilities: Mapped[dict[str, Any]] = mapped_column(default=dict)
    registered_at: Mapped[datetime]
