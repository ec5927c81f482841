"""Sites whose removal is under way: Git needs a while, and nothing may come to them meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from controller.store import facts
from controller.store.shapes import stamp

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

# A removal whose process died leaves its mark behind. Git is given up well before that.
LASTS: Final = timedelta(minutes=5)


def under_way(session: Session, now: datetime) -> set[str]:
    """Return the sites that are being removed."""
    marks = facts.get(session, facts.LEAVING) or {}
    return {site for site, since in marks.items() if datetime.fromisoformat(since) > now - LASTS}


def begin(session: Session, site: str, now: datetime) -> None:
    """Mark a site, in the transaction that found it empty."""
    marks = facts.get(session, facts.LEAVING) or {}
    kept = {name: marks[name] for name in under_way(session, now)}
    facts.put(session, facts.LEAVING, {**kept, site: stamp(now)})


def end(session: Session, site: str) -> None:
    """Take the mark away."""
    marks = dict(facts.get(session, facts.LEAVING) or {})
    if marks.pop(site, None):
        facts.put(session, facts.LEAVING, marks)
