"""The publisher: requests go through stages, and only the Git stage is exclusive.

resolve (images to digests) -> commit (documents, commit, push) -> index (rows, published).
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from controller import measures
from controller.logs import working_for
from controller.publish.changes import Moved
from controller.publish.commit import STAGE, CommitStage, TakenBack
from controller.publish.delays import REMOTE, Delays
from controller.publish.images import Images
from controller.publish.index import IndexStage
from controller.publish.journal import Journal
from controller.publish.lane import IN_LANE, Lane
from controller.publish.mainline import Mainline
from controller.publish.pins import Pins, Unresolved
from controller.publish.proposals import Proposals
from controller.publish.remote import PushRefused
from controller.publish.resolve import Resolver, ResolveStage
from controller.publish.site_changes import SiteChanges
from controller.publish.trunk import Halted
from controller.store import requests, stages
from controller.store.words import RequestState
from margrave import durations
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from controller.publish.proposals import Files
    from controller.publish.repository import Repository
    from controller.settings import ControllerSettings
    from controller.store import Store

LOG = logging.getLogger(__name__)
# Another controller that dies leaves its work behind, and nobody wakes this one for it.
SHARED_PAUSE: Final = 5.0
JOURNAL: Final = "emergency.journal"
INTERRUPTED: Final = MargraveError("the controller ended while it published this; it goes on")
AGAIN: Final = 2.0  # seconds until a database that was away is tried again


class Publisher:
    """The only part that moves the branch, over all controllers."""

    def __init__(
        self,
        store: Store,
        settings: ControllerSettings,
        clock: Callable[[], datetime],
        repository: Repository,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._repository = repository
        key = settings.git.signing_key
        self._main = Mainline(store, repository, clock, key)
        self._proposals: Proposals | None = None
        if settings.git.mode == "branch":
            self._proposals = Proposals(store, repository, clock, key)
        self._lane = Lane(store)
        self._delays = Delays(clock)
        self._resolver = Resolver(store, repository, Images(settings.registries))
        self._resolving = ResolveStage(store, self._resolver, self._delays, self)
        self._commit = CommitStage(store, repository, self._main, self._proposals, clock)
        self._index = IndexStage(store, repository, self._main, clock)
        self.changes = SiteChanges(
            store,
            repository,
            clock,
            self._lane,
            self._main,
            self._proposals,
            self._index,
            Journal(settings.state.dir / JOURNAL),
        )
        self._proposed: dict[str, Pins] = {}  # of requests on branches that lack images
        self._filling: threading.Thread | None = None
        self._working = False  # on threads of its own
        self._woken = threading.Event()
        self._look = threading.Event()  # something may have been pushed

    @property
    def problem(self) -> str:
        """Why Git could not be reached the last time; empty when it could."""
        return self._main.problem

    @property
    def unread(self) -> str:
        """Why what stands in Git could not be read the last time; empty when it could."""
        return self._main.unread

    def queue_lengths(self) -> dict[str, int]:
        """Return how much waits for each stage."""
        return {
            "resolve": self._resolving.length(),
            "commit": len(self._resolving.ready()),
            "index": self._index.length(),
            "emergency": self.changes.emergency.length(),
        }

    def wake(self) -> None:
        """Something was queued or pushed: look now."""
        self._look.set()
        self._woken.set()
        self._resolving.wake()

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; `wake` after setting it ends the wait."""
        poll = durations.seconds(self._settings.git.poll_interval)
        pause = min(poll, SHARED_PAUSE) if self._store.shared else poll
        self._working = True
        threads = [
            threading.Thread(target=work, args=(stop, pause), name=name, daemon=True)
            for name, work in (("resolve", self._resolving.run), ("index", self._index.run))
        ]
        for thread in threads:
            thread.start()
        self._look.set()
        self._guarded(lambda: self.changes.emergency.begin(stop))
        looked = self._clock()
        while not stop.is_set():
            self._woken.clear()
            if self._look.is_set() or (self._clock() - looked).total_seconds() >= poll:
                self._look.clear()
                looked = self._clock()
                self._guarded(self.refresh)
            well = self._guarded(lambda: self.publish_all(stop))
            self._woken.wait(self._delays.pause(pause if well else min(pause, AGAIN)))
        self._resolving.wake()
        self._index.wake()
        for thread in threads:
            thread.join()
        self._working = False

    def _guarded(self, step: Callable[[], object]) -> bool:
        """Do a step; its failure stops neither the other ones nor the thread."""
        try:
            step()
        except MargraveError as error:
            LOG.warning("publishing pauses: %s", error)
        except Exception:  # a defect must not end the thread that all work goes through
            LOG.exception("publishing pauses")
        else:
            return True
        return False

    def recover(self) -> None:
        """Requeue what a process was publishing when it ended, unless it stands in Git.

        Nobody else publishes meanwhile, so whatever is being published now was left behind.
        """
        with self._lane.taken():
            self._commit.note_landed()
            with self._store.session() as session:
                interrupted = stages.interrupted(session)
            for request in interrupted:
                self._ended(request, RequestState.QUEUED, INTERRUPTED)

    def refresh(self) -> str | None:
        """Make Git's head known here; the commit, or None before the first."""
        try:
            with self._lane.taken():
                there = self._main.reached(self._repository.proposals) if self._proposals else {}
                head = self._main.look()
        except Unreachable:
            self._delays.later(REMOTE)
            raise
        self._delays.forget(REMOTE)
        self._index.follow(head)
        self._index.wake()
        if self._proposals:
            self._settle(self._proposals, head, there)
        return head

    def publish_all(self, stop: threading.Event | None = None) -> None:
        """Work the queue off until nothing is due or `stop` is set."""
        while not (stop and stop.is_set()) and self.publish_next():
            pass

    def publish_next(self) -> bool:
        """Publish the request whose turn it is; False when none is due.

        Without threads for the other stages it goes through all of them here.
        """
        with self._lane.taken():
            self.recover()
            ready = self._resolving.ready() if self._working else None
            request = self._taken(ready)
            if request is None:
                return False
            if ready is not None:
                pins = ready[request["id"]]
                self._commit_one(request, pins)
                if pins.missing:
                    self._again(request["id"], pins)
        if ready is None:
            self._resolve_and_commit(request)
            self._index.work()
        else:
            self._index.wake()
        return True

    def resolved(self) -> None:
        """Let the commit stage look: a request is ready."""
        self._woken.set()

    def unresolved(self, request: str, error: Exception) -> None:
        """Note why a request could not be resolved, and when it is tried again."""
        if isinstance(error, Unreachable):
            self._delays.later(request)
            self._guarded(lambda: self._hold(request, error))
        else:
            self._guarded(lambda: self._failed(request, error))

    def _hold(self, request: str, error: MargraveError) -> None:
        """Show on a request what it waits for."""
        LOG.warning("request %s waits: %s", request, error)
        with self._store.write() as session:
            stages.hold(session, request, _told(error), self._clock())

    def _settle(self, proposals: Proposals, head: str | None, there: Mapping[str, str]) -> None:
        """Bring what waits on branches in line with main; registries are asked aside."""

        def files(request: Mapping[str, Any]) -> Files:
            return self._commit.files(request, self._proposed.setdefault(request["id"], Pins()))

        with self._lane.taken():
            proposals.settle(head, there, files)
        self._proposed = {name: pins for name, pins in self._proposed.items() if pins.missing}
        if not self._proposed:
            return
        if not self._working:
            self._fill_proposed()
            with self._lane.taken():
                proposals.settle(head, there, files)
        elif self._filling is None or not self._filling.is_alive():
            self._filling = threading.Thread(target=self._fill_proposed, daemon=True)
            self._filling.start()

    def _fill_proposed(self) -> None:
        """Resolve the images of requests on branches that main has overtaken."""
        for pins in list(self._proposed.values()):
            if self._guarded(lambda pins=pins: self._resolver.fill(pins)):  # type: ignore[misc]
                self.wake()

    def _taken(self, ready: Collection[str] | None) -> dict[str, Any] | None:
        """Take the next request out of the queue, one that is ready if that is given."""
        not_due = self._delays.not_due()
        if REMOTE in not_due:
            return None
        with self._store.write(IN_LANE) as session:
            request = stages.next_queued(session, not_due, ready)
            if request is None:
                return None
            now = self._clock()
            requests.move(session, request["id"], RequestState.PUBLISHING, now)
        if not request["tried"]:
            waited = max(0.0, (now - request["created_at"]).total_seconds())
            measures.QUEUE.add((), waited)
            measures.STAGE_WAIT.add((STAGE,), waited)
        return request

    def _resolve_and_commit(self, request: Mapping[str, Any]) -> None:
        """Take a request through the first two stages, without the threads of the first."""
        name = request["id"]
        try:
            pins = self._resolver.needs(request)
            while True:
                self._resolver.fill(pins)
                with self._lane.taken():
                    self._commit_one(request, pins)
                if not pins.missing:
                    return
        except Exception as error:  # noqa: BLE001 - of this request alone
            self._failed(name, error)

    def _commit_one(self, request: Mapping[str, Any], pins: Pins) -> None:
        """Commit a request, and write what became of it; `pins.missing` holds what it lacks."""
        name = request["id"]
        with working_for(request["trace"]):
            try:
                with measures.stage(STAGE):
                    committed = self._commit.publish(request, pins)
            except TakenBack:
                LOG.info("request %s was taken back", name)
            except Unresolved:
                LOG.info("request %s needs more images", name)
            except Exception as error:  # noqa: BLE001 - of this request alone
                self._failed(name, error)
            else:
                self._delays.forget(name)
                self._delays.forget(REMOTE)
                if committed is not None:
                    self._index.add(committed)

    def _again(self, name: str, pins: Pins) -> None:
        """Let a request that needs more images go back to the first stage."""
        with self._store.write(IN_LANE) as session:
            requests.move(session, name, RequestState.QUEUED, self._clock())
        self._resolving.again(name, pins)

    def _failed(self, name: str, error: Exception) -> None:
        """Write why a request did not come through, and whether it is tried again."""
        if isinstance(error, Unreachable | Halted):
            self._delays.later(name)
            if self.problem and not isinstance(error, PushRefused):
                self._delays.later(REMOTE)
            self._ended(name, RequestState.QUEUED, error)
            LOG.warning("request %s waits: %s", name, error)
        elif isinstance(error, Moved):
            self._ended(name, RequestState.REFUSED, error)
            LOG.info("request %s is refused: %s", name, error)
        elif isinstance(error, MargraveError):
            self._ended(name, RequestState.FAILED, error)
            LOG.warning("request %s failed: %s", name, error)
        else:  # a defect ends this request alone
            LOG.error("request %s failed", name, exc_info=error)
            self._ended(name, RequestState.FAILED, MargraveError(f"a defect: {error!r}"))

    def _ended(self, request: str, state: RequestState, error: MargraveError) -> None:
        with self._store.write(IN_LANE) as session:
            requests.move(session, request, state, self._clock(), error=_told(error))


def _told(error: MargraveError) -> dict[str, Any]:
    """Return an error as requests show it."""
    code = type(error).__name__.lower()
    return {"class": "", "code": code, "message": error.message, "cure": error.cure}
