"""Queries of single facts that outlive a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, select

from controller.store.models import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

HEAD: Final = "git.head"
HALT: Final = "git.halt"  # {reason, cure, commit, known, since, accepted}: main did not go forward
ASKED: Final = "sources.asked"  # {source: a mark}: pushed to, and not read since
EDITS: Final = "git.edits"  # {branch: {commit, base, site, remove, since}}: sites to be merged
LEAVING: Final = "sites.leaving"  # {site: since}: being removed


_GET: Final = select(Fact.value).where(Fact.name == bindparam("of_name"))


def get(session: Session, name: str) -> dict[str, Any] | None:
    """A fact, or None."""
    found: dict[str, Any] | None = session.scalar(_GET, {"of_name": name})
    return found


def put(session: Session, name: str, value: Mapping[str, Any]) -> None:
    """Remember a fact."""
    row = session.get(Fact, name)
    if row is None:
        session.add(Fact(name=name, value=dict(value)))
    else:
        row.value = dict(value)


def forget(session: Session, name: str) -> None:
    """No longer so."""
    session.execute(delete(Fact).where(Fact.name == name))


def head(session: Session) -> str | None:
    """The commit that the deployments repository's main stands at, as far as it was read."""
    found = get(session, HEAD)
    return found.get("commit") if found else None
