"""The branch main: taken from outside only where it goes forward, else all stops, visibly."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from controller.store import facts
from controller.store.shapes import stamp
from margrave.errors import Conflict, NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.publish.repository import Repository
    from controller.store import Session, Store

LOG = logging.getLogger(__name__)

ACCEPT: Final = "margrave controller accept --commit"


class Halted(Conflict):
    """Main was rewritten or removed: nothing is read or published until that is accepted."""


class Trunk:
    """What is known of main stands in the database, so all controllers on it judge alike."""

    def __init__(self, store: Store, repository: Repository, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._repository = repository
        self._clock = clock
        self._seen: tuple[str, str] | None = None  # known, and a head that follows from it

    def look(self) -> str | None:
        """The head to build on; Halted when it does not follow from what was read before.

        Standing by it (`Repository.adopt`) is left to who reads it.
        """
        found = self._repository.refresh()
        with self._store.session() as session:
            known, halt = facts.head(session), facts.get(session, facts.HALT)
        accepted = halt.get("accepted") if halt else None
        if known is None or (found is not None and self._leads(known, found)):
            self._take(found, halt)
        elif accepted and found is None and accepted == known:
            self._bring_back(known, halt)
            return known
        elif accepted and found is not None and self._leads(accepted, found):
            # What stood before stays here: rollbacks find their content, and people what they lost.
            if self._repository.has(known):
                self._repository.keep(known)
            # The halt is forgotten when what stands there was read: ending here ends nothing.
        else:
            raise self._halted(known, found, halt)
        return found

    def overtaken(self, head: str | None, parent: str | None) -> bool:
        """Return whether what was read already follows from a head with that parent.

        Looking and reading are two stages: between them a later commit may have been read.
        """
        with self._store.session() as session:
            known, halt = facts.head(session), facts.get(session, facts.HALT)
        if head is None or known in (None, head, parent) or halt:
            return False
        return self._seen != (known, head) and self._repository.contains(known, head)

    def _leads(self, commit: str, head: str) -> bool:
        if commit == head or self._seen == (commit, head):
            return True
        if not self._repository.contains(head, commit):
            return False
        self._seen = (commit, head)
        return True

    def _take(self, head: str | None, halt: object) -> None:
        if halt:
            LOG.warning("main is followed again, at %s", head)
            with self._store.write() as session:
                facts.forget(session, facts.HALT)

    def _bring_back(self, known: str, halt: object) -> None:
        if not self._repository.bring_back(known):
            raise Conflict("somebody made main anew meanwhile", "look again at what stands there")
        self._take(known, halt)

    def _halted(self, known: str, found: str | None, halt: dict[str, Any] | None) -> Halted:
        """Write it down once for each head that does not follow."""
        if found is None:
            words = "main is gone from the deployments repository"
            cure = f"push it there again, or let the controller: {ACCEPT} {known}"
        else:
            words = f"main was rewritten: {found[:12]} does not follow from {known[:12]}"
            cure = f"push the old one again, or take it as it is: {ACCEPT} {found}"
        if halt is None or halt["commit"] != found or halt["known"] != known:
            value = {
                "reason": words,
                "cure": cure,
                "commit": found,
                "known": known,
                "since": stamp(self._clock()),
            }
            with self._store.write() as session:
                facts.put(session, facts.HALT, value)
            LOG.error("%s; nothing is published (%s)", words, cure)
        return Halted(words, cure)


def halt(session: Session) -> dict[str, Any] | None:
    """Why nothing is published: {reason, cure, commit, known, since}; None when it is."""
    found = facts.get(session, facts.HALT)
    return found if found and not found.get("accepted") else None


def accept(session: Session, commit: str) -> str:
    """Accept main as it stands, by its commit or (when it is gone) by the one that is known.

    The whole commit; it is taken with the next look at Git, by whichever controller looks.
    """
    found = facts.get(session, facts.HALT)
    if found is None:
        raise NotFound("main goes forward: there is nothing to accept", "see /readyz")
    wanted: str = found["commit"] or found["known"]
    if len(commit) < 7 or not wanted.startswith(commit):
        raise Refused(f"main does not stand at {commit}", f"look at it, and accept {wanted}")
    facts.put(session, facts.HALT, {**found, "accepted": wanted})
    return wanted
