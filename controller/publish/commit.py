"""Second stage of publishing: a request becomes a commit that is pushed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.publish.changes import Moved
from controller.publish.lane import IN_LANE
from controller.publish.mainline import Committed
from controller.publish.materials import Materials
from controller.publish.pins import Pins, Unresolved
from controller.publish.work import Work
from controller.store import documents, requests, stages
from controller.store.words import Action, RequestState
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from controller.publish.building import Note
    from controller.publish.mainline import Mainline
    from controller.publish.proposals import Files, Proposals
    from controller.publish.repository import Repository
    from controller.store import Store
    from margrave.digest import File

STAGE: Final = "commit"


class TakenBack(MargraveError):
    """The request was cancelled while its commit was being made."""


class CommitStage:
    """Commits one request at a time; the caller holds the lane."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        main: Mainline,
        proposals: Proposals | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._repository = repository
        self._main = main
        self._proposals = proposals
        self._clock = clock
        self._landed: dict[str, str] = {}  # request to commit, until the database knows it

    def publish(self, request: Mapping[str, Any], pins: Pins) -> Committed | None:
        """Commit and push a request; None when it waits on a branch of its own."""
        done = self._already(request) if request["tried"] else None
        if done is None:
            self._must_have_sites(request)
            files = self._with_last_call(request["id"], self.files(request, pins))
            if self._proposals is not None:
                head = self._main.look()
                landed = self._proposals.of_request(request["id"], head, files)
                if landed is not None:
                    self._proposals.wait(request["id"], landed)
                    return None
                done = Committed(head)
            else:
                done = self._main.commit(files)
        if done.head is None:  # nothing was to be changed in an empty repository
            with self._store.write(IN_LANE) as session:
                requests.move(session, request["id"], RequestState.PUBLISHED, self._clock())
            return None
        self._landed[request["id"]] = done.head
        self.note_landed()
        return done

    def note_landed(self) -> None:
        """Note in the database which requests stand in Git; a failed note is repeated later."""
        for name, commit in list(self._landed.items()):
            with self._store.write(IN_LANE) as session:
                stages.land(session, name, commit)
            del self._landed[name]

    def files(self, request: Mapping[str, Any], pins: Pins) -> Files:
        """Return the function that makes a request's files for a head; Unresolved when it needs
        images that are not among the pins."""
        materials = Materials(self._store, pins)

        def made(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            work = Work(self._repository, head, request, materials)
            found = work.prepare()
            if pins.missing:
                raise Unresolved("its images are resolved first")
            return found, work.note(self._clock())

        return made

    def _with_last_call(self, request: str, files: Files) -> Files:
        """The same files, made for the push: from the first time on nothing takes it back."""
        called = False

        def made(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            nonlocal called
            found = files(head)
            if not called:
                with self._store.write(IN_LANE) as session:
                    called = requests.last_call(session, request)
                if not called:
                    raise TakenBack("it was cancelled")
            return found

        return made

    def _must_have_sites(self, request: Mapping[str, Any]) -> None:
        """Refuse to create at a site that was removed since: its runner has no token any more."""
        if request["action"] != Action.CREATE:
            return
        wanted = {one["site"] for one in request["deployments"]}
        with self._store.session() as session:
            gone = sorted(wanted - set(documents.sites(session)))
        if gone:
            raise Moved(f"site {', '.join(gone)} was removed", "add it again, and deploy anew")

    def _already(self, request: Mapping[str, Any]) -> Committed | None:
        """The commit of a request that was tried before: its push may have come through."""
        head = self._main.look()
        sites = {one["site"] for one in request["deployments"]}
        found = self._repository.commit_of_request(request["id"], head, sites) if head else None
        return Committed(found, None) if found else None
