"""Numbers that only grow: kept by the transaction that makes them grow, never counted from rows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import select

from controller.store import bulk
from controller.store.models import Total

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

_KEY = ("name", "label")


class Counted(StrEnum):
    """What is counted; the label tells kinds of it apart."""

    TRANSITION = "transition"  # by the state that it led to
    IRREGULAR = "irregular"
    OPERATION = "operation"  # that ended: kind/state/class of its error
    REJECTED = "rejected"


def add(session: Session, counts: Mapping[tuple[Counted, str], int]) -> None:
    """Count further."""
    # Always in the same order: two writers of different rows never wait for each other crosswise.
    rows = [
        {"name": str(name), "label": label, "value": number}
        for (name, label), number in sorted(counts.items())
    ]
    bulk.put(session, Total, rows, _KEY, adding=("value",))


def of(session: Session, name: Counted) -> dict[str, int]:
    """The numbers by label."""
    query = select(Total.label, Total.value).where(Total.name == str(name))
    return {row.label: row.value for row in session.execute(query.order_by(Total.label))}
