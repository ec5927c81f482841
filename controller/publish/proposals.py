"""Protected main: each change stands on a branch of its own until people merge or close it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.publish.building import build
from controller.publish.pins import Unresolved
from controller.publish.remote import PROPOSALS
from controller.publish.repository import ROOTS
from controller.store import documents, facts, proposals, requests
from controller.store.shapes import stamp
from controller.store.words import RequestState
from margrave.errors import Conflict, MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from controller.publish.building import Note
    from controller.publish.repository import Repository
    from controller.store import Store
    from controller.store.proposals import Proposed
    from margrave.digest import File

    # What a change makes of a head: its files, and the message.
    Files = Callable[[str | None], tuple[Mapping[str, File | None], Note]]

LOG = logging.getLogger(__name__)

_OF_REQUEST: Final = f"{PROPOSALS}request-"
_OF_SITE: Final = f"{PROPOSALS}site-"
_ALL: Final = (*ROOTS, "components")


@dataclass(frozen=True)
class Landed:
    """Where a change is now: the commit that holds it, and the branch when main has yet to."""

    commit: str | None
    branch: str | None = None
    base: str | None = None
    pending: str = ""  # why it is not there yet, of a change that is kept until then


class Proposals:
    """Pushes branches, and sees what became of them."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        clock: Callable[[], datetime],
        signing_key: Path | None,
    ) -> None:
        self._store = store
        self._repository = repository
        self._clock = clock
        self._key = signing_key

    def of_request(self, request: str, head: str | None, files: Files) -> Landed | None:
        """Push a request's change; None when main holds it already."""
        name = f"{_OF_REQUEST}{request}"
        return self._push(name, head, head, files, self._repository.proposals().get(name))

    def of_site(self, site: str, head: str | None, files: Files, *, remove: bool) -> Landed | None:
        """Push a change of a site's document, on top of what waits for it already."""
        name = f"{_OF_SITE}{site}"
        there = self._repository.proposals().get(name)
        with self._store.session() as session:
            waiting = (facts.get(session, facts.EDITS) or {}).get(name)
        on, base = head, head
        if waiting and there == waiting["commit"]:
            on, base = there, waiting["base"]
        elif there is not None and not (head and self._repository.contains(head, there)):
            raise Conflict(f"people work on the branch {name}", "merge or delete it first")
        landed = self._push(name, on, base, files, there)
        if landed is not None:
            about = {"commit": landed.commit, "base": base, "site": site, "remove": remove}
            self._note(name, {**about, "since": stamp(self._clock())})
        return landed

    def settle(
        self, head: str | None, there: Mapping[str, str], work: Callable[..., Files]
    ) -> None:
        """Bring everything that waits in line with main and the branches, which were listed before
        main was fetched: what is merged and then deleted is never taken for closed.

        `work` gives the files of a request.
        """
        with self._store.session() as session:
            waiting = proposals.waiting(session)
        for one in waiting:
            try:
                self._settle(one, head, there, work)
            except Exception:  # of this request alone: the others are not to wait for it
                LOG.exception("request %s is brought up to date later", one.id)
        self._sites(head, there)
        self._clean(there)

    def _settle(
        self,
        one: Proposed,
        head: str | None,
        there: Mapping[str, str],
        work: Callable[..., Files],
    ) -> None:
        """Bring a request in line with main and the branches."""
        merged = self._merged(one.commit, one.base, head) or self._found(one, head)
        if merged:
            self._end(one, RequestState.PUBLISHED, commit=merged)
        elif one.name not in there:
            error = MargraveError(f"the branch {one.name} was closed without being merged")
            self._end(one, RequestState.REFUSED, error=error)
        elif head and there[one.name] == one.commit and self._overtaken(one, head):
            self._again(one, head, work(one.work))

    def _push(
        self, name: str, on: str | None, base: str | None, files: Files, there: str | None
    ) -> Landed | None:
        changes, note = files(on)
        if not changes:
            return None
        new = build(self._repository.git, on, changes, note, self._key)
        if not self._repository.propose(name, new, there):
            raise Unreachable(f"the branch {name} moved meanwhile", "it is tried again")
        return Landed(new, name, base)

    def _again(self, one: Proposed, head: str, files: Files) -> None:
        """Main has moved below the change: it is applied again to what stands there now."""
        try:
            landed = self._push(one.name, head, head, files, one.commit)
        except (Unreachable, Unresolved) as error:  # the others are not to wait for it
            LOG.warning("request %s is brought up to date later: %s", one.id, error)
            return
        except MargraveError as error:
            self._end(one, RequestState.FAILED, error=error)
            return
        if landed is None:
            self._end(one, RequestState.PUBLISHED, commit=head)
            return
        self.wait(one.id, landed)

    def wait(self, request: str, landed: Landed) -> None:
        """Write down that a request waits to be merged."""
        now = self._clock()
        branch = {
            "name": landed.branch,
            "commit": landed.commit,
            "base": landed.base,
            "since": stamp(now),
        }
        with self._store.write() as session:
            requests.move(session, request, RequestState.PUBLISHING, now, branch=branch)

    def _merged(self, commit: str, base: str | None, head: str | None) -> str | None:
        """The commit in main that holds the change: merged as it is, or squashed."""
        if head is None:
            return None
        if self._repository.contains(head, commit):
            return commit
        if base is None or base == head:
            return None
        # Squashed with words of their own: all that we changed stands in main as we wrote it.
        ours = self._repository.changed(base, commit, _ALL)
        return None if ours & self._repository.changed(commit, head, _ALL) else head

    def _found(self, one: Proposed, head: str | None) -> str | None:
        return self._repository.commit_of_request(one.id, head) if head else None

    def _overtaken(self, one: Proposed, head: str) -> bool:
        """Whether main changed what this changes, or took away a component that it may name."""
        if one.base is None or one.base == head:
            return one.base is None
        moved = self._repository.changed(one.base, head, _ALL)
        if any(path.startswith("components/") for path in moved):
            return True
        return bool(moved & self._repository.changed(one.base, one.commit, _ALL))

    def _sites(self, head: str | None, there: Mapping[str, str]) -> None:
        with self._store.session() as session:
            waiting = facts.get(session, facts.EDITS) or {}
        for name, one in waiting.items():
            merged = self._merged(one["commit"], one["base"], head)
            if merged and one["remove"]:
                with self._store.write() as session:
                    if not documents.occupants(session, one["site"]):
                        documents.remove_site(session, one["site"])
            if merged or name not in there:
                LOG.info("%s was %s", name, "merged" if merged else "closed without being merged")
                self._note(name, None)

    def _clean(self, there: Mapping[str, str]) -> None:
        """Take away the branches of requests that were cancelled or failed, if nobody added to
        them."""
        names = {name.removeprefix(_OF_REQUEST): name for name in there}
        with self._store.session() as session:
            given_up = proposals.given_up(session, [one for one in names if "/" not in one])
        for request, commit in given_up.items():
            if there[names[request]] == commit:
                self._repository.propose(names[request], None, commit)

    def _note(self, name: str, value: Mapping[str, Any] | None) -> None:
        with self._store.write() as session:
            known = dict(facts.get(session, facts.EDITS) or {})
            known.pop(name, None)
            if value is not None:
                known[name] = dict(value)
            facts.put(session, facts.EDITS, known)

    def _end(
        self,
        one: Proposed,
        state: RequestState,
        *,
        commit: str | None = None,
        error: MargraveError | None = None,
    ) -> None:
        told = None
        if error is not None:
            told = {"class": "", "code": "closed", "message": error.message, "cure": error.cure}
        with self._store.write() as session:
            requests.move(session, one.id, state, self._clock(), commit=commit, error=told)
        LOG.info("request %s is %s (%s)", one.id, state.value, one.name)
