"""Queries of access: people, tokens, runners' tokens and sign-in sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, func, or_, select, update

from controller.store.models import LoginSession, Site, SiteToken, Token, User
from controller.store.shapes import stamp
from controller.store.words import Role
from margrave.matching import selector_matches

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

VOUCHED: Final = "oidc "
# Writing the time of each use would turn every read into a write.
USED_EVERY: Final = timedelta(minutes=5)

# Made once: these are asked with every request.
_TOKEN: Final = (
    select(
        Token.id,
        Token.name,
        Token.role,
        Token.sites,
        Token.revoked_at,
        Token.expires_at,
        Token.last_used_at,
        User.name.label("user"),
        User.role.label("user_role"),
        User.sites.label("user_sites"),
        User.disabled,
    )
    .join(User, User.name == Token.user, isouter=True)
    .where(Token.digest == bindparam("of_digest"))
)
_SITE_TOKEN: Final = select(
    SiteToken.id,
    SiteToken.site,
    SiteToken.revoked_at,
    SiteToken.expires_at,
    SiteToken.last_used_at,
).where(SiteToken.digest == bindparam("of_digest"))


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a token or session speaks for; `site` is set for a runner's."""

    id: str
    name: str
    role: str
    sites: tuple[str, ...] | None
    site: str | None = None
    stale_use: bool = False  # the stored time of use is old enough to write a new one
    csrf: str = ""
    person: bool = False  # a person's, not a token that speaks for itself


def token(session: Session, digest: str, now: datetime) -> Holder | None:
    """The holder of a valid API token or runner's token."""
    row = session.execute(_TOKEN, {"of_digest": digest}).one_or_none()
    if row is not None:
        if not _valid(row, now) or row.disabled:
            return None
        name, role, sites = (
            (row.user, row.user_role, row.user_sites)
            if row.user_role
            else (row.name, row.role, row.sites)
        )
        return Holder(
            row.id,
            name,
            role.value,
            _theirs(session, sites),
            stale_use=_unused(row, now),
            person=bool(row.user_role),
        )
    own = session.execute(_SITE_TOKEN, {"of_digest": digest}).one_or_none()
    if own is None or not _valid(own, now):
        return None
    return Holder(own.id, f"site:{own.site}", "site", (own.site,), own.site, _unused(own, now))


def used(session: Session, token_id: str, at: datetime, *, of_site: bool) -> None:
    """Record when a token was in use."""
    kind = SiteToken if of_site else Token
    session.execute(update(kind).where(kind.id == token_id).values(last_used_at=at))


def add_token(session: Session, values: Mapping[str, Any]) -> None:
    """Store a token; `values` by column names."""
    session.add(Token(**values))


def tokens(
    session: Session, now: datetime, *, after: str | None, limit: int
) -> list[tuple[tuple[str], dict[str, Any]]]:
    """Tokens that are still valid, by id; never the token itself."""
    query = select(Token).where(Token.revoked_at.is_(None)).order_by(Token.id).limit(limit)
    query = query.where(or_(Token.expires_at.is_(None), Token.expires_at > now))
    if after is not None:
        query = query.where(Token.id > after)
    return [((row.id,), _token_shape(row)) for row in session.scalars(query)]


def sites_of_token(session: Session, token_id: str) -> object:
    """The sites of a token as they are kept; None for all of them, or where there is none."""
    row = session.get(Token, token_id)
    return row.sites if row else None


def revoke(session: Session, token_id: str, now: datetime) -> bool:
    """Revoke a token; whether there was one."""
    return _revoke(session.get(Token, token_id), now)


def add_site_token(session: Session, values: Mapping[str, Any]) -> None:
    """Store a runner's token; `values` by column names."""
    session.add(SiteToken(**values))


def site_tokens(session: Session, site: str, now: datetime) -> list[dict[str, Any]]:
    """A site's valid tokens, the eldest first."""
    query = select(SiteToken).where(SiteToken.site == site).order_by(SiteToken.created_at)
    return [
        {
            "id": row.id,
            "created_by": row.created_by,
            "created_at": stamp(row.created_at),
            "expires_at": stamp(row.expires_at),
            "last_used_at": stamp(row.last_used_at),
        }
        for row in session.scalars(query)
        if _valid(row, now)
    ]


def revoke_site_token(session: Session, site: str, token_id: str, now: datetime) -> bool:
    """Revoke a runner's token; whether the site has it."""
    row = session.get(SiteToken, token_id)
    return _revoke(row if row and row.site == site else None, now)


def user(session: Session, name: str) -> dict[str, Any] | None:
    """A person with the stored hash, or None; disabled ones too."""
    row = session.get(User, name)
    return {**_user_shape(row), "password_hash": row.password_hash} if row else None


def users(
    session: Session, *, after: str | None, limit: int
) -> list[tuple[tuple[str], dict[str, Any]]]:
    """People by name."""
    query = select(User).order_by(User.name).limit(limit)
    if after is not None:
        query = query.where(User.name > after)
    return [((row.name,), _user_shape(row)) for row in session.scalars(query)]


def add_user(session: Session, values: Mapping[str, Any]) -> None:
    """Store a person; `values` by column names."""
    session.add(User(**values))
    session.flush()


def vouched(session: Session, name: str, subject: str, role: Role, now: datetime) -> bool:
    """A provider vouches for a person: their row is made, or has its role brought up to date.

    False when the name is somebody else's or disabled. In place of a password's hash stands who
    they are there, which no password ever matches.
    """
    mark = f"{VOUCHED}{subject}"
    row = session.get(User, name)
    if row is None:
        add_user(session, {"name": name, "password_hash": mark, "role": role, "created_at": now})
        return True
    if row.password_hash != mark or row.disabled:
        return False
    row.role = role
    return True


def change_user(session: Session, name: str, values: Mapping[str, Any]) -> None:
    """Change a person; a new password or being disabled ends all sessions and sign-ins."""
    row = session.get_one(User, name)
    for key, value in values.items():
        setattr(row, key, value)
    if "password_hash" in values or values.get("disabled"):
        session.execute(delete(LoginSession).where(LoginSession.user == name))
        session.execute(delete(Token).where(Token.user == name))


def remove_user(session: Session, name: str) -> None:
    """Remove a person with tokens and sessions."""
    session.execute(delete(Token).where(Token.user == name))
    session.execute(delete(LoginSession).where(LoginSession.user == name))
    session.execute(delete(User).where(User.name == name))


def admins(session: Session) -> int:
    """How many people can still sign in as admin."""
    query = select(func.count()).select_from(User)
    return session.scalar(query.where(User.role == Role.ADMIN, User.disabled.is_(False))) or 0


def open_session(session: Session, values: Mapping[str, Any], now: datetime) -> None:
    """Store a sign-in; those that have ended are swept on the way."""
    session.execute(delete(LoginSession).where(LoginSession.expires_at <= now))
    session.add(LoginSession(**values))


def signed_in(session: Session, digest: str, now: datetime) -> Holder | None:
    """The person of a valid session."""
    row = session.get(LoginSession, digest)
    if row is None or row.expires_at <= now:
        return None
    person = session.get_one(User, row.user)
    if person.disabled:
        return None
    sites = _theirs(session, person.sites)
    return Holder(person.name, person.name, person.role.value, sites, csrf=row.csrf, person=True)


def close_session(session: Session, digest: str) -> None:
    """Sign out."""
    session.execute(delete(LoginSession).where(LoginSession.digest == digest))


def _valid(row: Any, now: datetime) -> bool:
    return row.revoked_at is None and (row.expires_at is None or row.expires_at > now)


def _unused(row: Any, now: datetime) -> bool:
    return row.last_used_at is None or now - row.last_used_at > USED_EVERY


def _revoke(row: Token | SiteToken | None, now: datetime) -> bool:
    if row is None or row.revoked_at is not None:
        return False
    row.revoked_at = now
    return True


def _theirs(session: Session, sites: object) -> tuple[str, ...] | None:
    """The sites that are named, or that a selector chooses as their labels stand now."""
    if isinstance(sites, dict):
        query = select(Site.name, Site.labels)
        return tuple(
            name for name, labels in session.execute(query) if selector_matches(sites, labels)
        )
    return tuple(sites) if isinstance(sites, list) else None


def _token_shape(row: Token) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "role": row.role.value,
        "sites": row.sites,
        "user": row.user,
        "created_by": row.created_by,
        "created_at": stamp(row.created_at),
        "expires_at": stamp(row.expires_at),
        "last_used_at": stamp(row.last_used_at),
    }


def _user_shape(row: User) -> dict[str, Any]:
    return {
        "name": row.name,
        "role": row.role.value,
        "sites": row.sites,
        "disabled": row.disabled,
        "created_at": stamp(row.created_at),
    }
