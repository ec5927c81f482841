"""Tables of access: people, their sessions, and tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from controller.store.columns import Base, LongText, Uuid, words
from controller.store.words import Role


class User(Base):
    """A person who signs in; the password is an argon2 hash."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    password_hash: Mapped[LongText]
    role: Mapped[Role] = mapped_column(words(Role))
    sites: Mapped[list[Any] | None]  # None is all sites
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class Token(Base):
    """An API token: only its SHA-256 is kept."""

    __tablename__ = "tokens"

    id: Mapped[Uuid] = mapped_column(primary_key=True)
    name: Mapped[str]
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[Role] = mapped_column(words(Role))
    sites: Mapped[list[Any] | None]  # None is all sites
    user: Mapped[str | None] = mapped_column(
        ForeignKey("users.name", ondelete="CASCADE"), index=True
    )
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class LoginSession(Base):
    """A signed-in browser; the key is the SHA-256 of the cookie."""

    __tablename__ = "login_sessions"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    user: Mapped[str] = mapped_column(ForeignKey("users.name", ondelete="CASCADE"), index=True)
    csrf: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
