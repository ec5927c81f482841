"""Queries of single facts that outlive a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.store.models import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

HEAD: Final = "git.head"


def get(session: Session, name: str) -> dict[str, Any] | None:
    """A fact, or None."""
    row = session.get(Fact, name)
    return row.value if row else None


def put(session: Session, name: str, value: Mapping[str, Any]) -> None:
    """Remember a fact."""
    row = session.get(Fact, name)
    if row is None:
        session.add(Fact(name=name, value=dict(value)))
    else:
        row.value = dict(value)


def head(session: Session) -> str | None:
    """The commit that the deployments repository's main stands at, as far as it was read."""
    found = get(session, HEAD)
    return found.get("commit") if found else None
