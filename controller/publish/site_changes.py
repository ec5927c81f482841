"""Changes of sites' documents: at once in the lane, or as emergencies ahead of everything."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TYPE_CHECKING, Any

from controller import measures
from controller.publish.building import Note
from controller.publish.emergency import STAGE, Emergency
from controller.publish.lane import MOST_WAITING, PATIENCE
from controller.publish.proposals import Landed
from controller.publish.site_edit import on_text
from controller.store import audit, documents, removals
from controller.store.audit import Deed
from margrave import commits
from margrave.digest import File
from margrave.errors import Conflict, MargraveError, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.publish.emergency import Entry
    from controller.publish.index import IndexStage
    from controller.publish.journal import Journal
    from controller.publish.lane import Lane
    from controller.publish.mainline import Committed, Mainline
    from controller.publish.proposals import Proposals
    from controller.publish.repository import Repository
    from controller.publish.site_edit import SiteEdit
    from controller.store import Store

LOG = logging.getLogger(__name__)


class SiteChanges:
    """Commits sites' documents for those who ask and wait."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        clock: Callable[[], datetime],
        lane: Lane,
        main: Mainline,
        proposals: Proposals | None,
        index: IndexStage,
        journal: Journal,
    ) -> None:
        self._store = store
        self._repository = repository
        self._clock = clock
        self._lane = lane
        self._main = main
        self._proposals = proposals
        self._index = index
        self.emergency = Emergency(journal, self._make, lambda: main.problem)

    def edit(
        self,
        site: str,
        change: Callable[[bytes | None], bytes | None],
        note: Note,
        *,
        remove: bool = False,
    ) -> Landed:
        """Change a site's document at the head, at once; the commit is None when nothing changed.

        `remove`: with the document the site itself goes, which a branch has to wait for.
        """
        # The caller occupies an HTTP thread: while the remote does not answer, only one of them
        # tries it again, and the others fail at once.
        patience = 0.0 if self._main.problem else PATIENCE
        with self._lane.taken(patience, MOST_WAITING, problem=self._main.problem):
            landed, committed = self._edit(site, change, note, remove=remove)
        self._read(committed)
        return landed

    def hasten(self, edit: SiteEdit) -> Landed:
        """Make an emergency change ahead of all else, or keep it until Git answers."""
        return self.emergency.submit(edit)

    def pending(self) -> list[dict[str, Any]]:
        """Return the emergency changes that wait: {site, change, since, problem}."""
        return self.emergency.pending()

    def _edit(
        self,
        site: str,
        change: Callable[[bytes | None], bytes | None],
        note: Note,
        *,
        remove: bool = False,
    ) -> tuple[Landed, Committed | None]:
        """Commit a change of a site's document; the lane is taken."""
        path = f"sites/{site}.yaml"
        if not remove:
            self._must_stay(site)

        def files(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            old = self._repository.read(head, path) if head else None
            new = change(old)
            if new == old:
                return {}, note
            return {path: None if new is None else File(new)}, note

        if self._proposals is None:
            committed = self._main.commit(files)
            return Landed(committed.commit), committed
        head = self._main.look()
        landed = self._proposals.of_site(site, head, files, remove=remove)
        return landed or Landed(None), None

    def _make(self, entry: Entry) -> None:
        """Commit an emergency change, read it, and write its audit entry."""
        edit = entry.edit
        trailers = {commits.ACTOR: edit.actor, commits.TRACE: edit.trace}
        at = datetime.fromisoformat(edit.at)
        note = Note(edit.title, edit.actor, at, trailers=trailers)
        change = on_text(edit.site, edit.applied)
        with measures.stage(STAGE):
            with self._lane.taken(first=True):
                self._must_be(edit.site)
                measures.STAGE_WAIT.add((STAGE,), (self._clock() - at).total_seconds())
                landed, committed = self._edit(edit.site, change, note)
                if entry.landed is None or landed.commit:
                    entry.landed = landed
            if committed is not None:
                self._index.add(committed)
            self._index.work()
            if edit.deed is not None:
                stands = {"commit": entry.landed.commit, "branch": entry.landed.branch}
                told = {key: value for key, value in stands.items() if value or key == "commit"}
                deed = Deed(**{**edit.deed, "detail": {**told, **edit.deed["detail"]}})
                with self._store.write() as session:
                    audit.add(session, deed, at)

    def _must_stay(self, site: str) -> None:
        """Refuse to change a site that is being removed: its document would come back."""
        with self._store.session() as session:
            if site in removals.under_way(session, self._clock()):
                raise Conflict(f'site "{site}" is being removed', "add it again afterwards")

    def _must_be(self, site: str) -> None:
        """Refuse what was kept for a site that is gone by now."""
        with self._store.session() as session:
            if site not in documents.sites(session):
                raise NotFound(f'there is no site "{site}" any more', "add it again")

    def _read(self, committed: Committed | None) -> None:
        """Read a commit at once, so that whoever asked for it sees it; it stands in any case."""
        if committed is None:
            return
        self._index.add(committed)
        try:
            self._index.work()
        except MargraveError as error:
            LOG.warning("%s is read later: %s", committed.head, error)
