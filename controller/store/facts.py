"""Single things worth remembering over a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.store.models import Fact

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

HEAD = "git.head"


def read(session: Session, name: str) -> dict[str, Any]:
    """The value, empty when nothing is known."""
    row = session.get(Fact, name)
    return dict(row.value) if row else {}


def write(session: Session, name: str, value: dict[str, Any]) -> None:
    """Remember a value in place of the one before."""
    session.merge(Fact(name=name, value=value))
    session.flush()
