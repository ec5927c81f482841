"""The publisher: it works the queue off, one commit a request, and follows Git's head."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from controller import measures
from controller.logs import working_for
from controller.publish.changes import Moved
from controller.publish.delays import Delays
from controller.publish.images import Images
from controller.publish.mainline import Mainline
from controller.publish.materials import Materials
from controller.publish.proposals import Landed, Proposals
from controller.publish.trunk import Halted
from controller.publish.turn import Turn
from controller.publish.work import Work
from controller.store import requests
from controller.store.words import RequestState
from margrave import durations
from margrave.digest import File
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from controller.publish.building import Note
    from controller.publish.proposals import Files
    from controller.publish.repository import Repository
    from controller.settings import ControllerSettings
    from controller.store import Store

LOG = logging.getLogger(__name__)
# Another controller that dies leaves its work behind, and nobody wakes us for it.
SHARED_PAUSE: Final = 5.0
PATIENCE: Final = 10.0  # seconds that a change which is made at once waits for its turn
MOST_WAITING: Final = 12  # of them: beyond the streams a server has a few threads more
INTERRUPTED: Final = MargraveError("the controller ended while it published this; it goes on")


class TakenBack(MargraveError):
    """Somebody cancelled the request while its commit was being made."""


class Publisher:
    """The only one that moves the branch, over all controllers; one thing at a time."""

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
        self._images = Images(settings.registries)
        key = settings.git.signing_key
        self._main = Mainline(store, repository, clock, key)
        self._proposals: Proposals | None = None
        if settings.git.mode == "branch":
            self._proposals = Proposals(store, repository, clock, key)
        self._turn = Turn()
        self._inside = False
        self._woken = threading.Event()
        self._delays = Delays(clock)

    @property
    def problem(self) -> str:
        """Why Git could not be reached the last time; empty when it could."""
        return self._main.problem

    @property
    def unread(self) -> str:
        """Why what stands in Git could not be read the last time; empty when it could."""
        return self._main.unread

    def wake(self) -> None:
        """Something was queued or pushed: look now."""
        self._woken.set()

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop; `wake` after setting the event ends the wait."""
        poll = durations.seconds(self._settings.git.poll_interval)
        woken, looked = True, self._clock()
        while not stop.is_set():
            self._woken.clear()
            if woken or (self._clock() - looked).total_seconds() >= poll:
                looked = self._clock()
                _attempt("reading Git", self.refresh)
            # What cannot be read must not stop what can be published.
            _attempt("publishing", lambda: self.publish_all(stop))
            woken = self._woken.wait(self._pause(poll))

    def recover(self) -> None:
        """What a process was publishing when it ended is in Git, or goes back to the queue.

        Nobody else publishes meanwhile, so whatever is being published now was left behind.
        """
        with self._one_at_a_time():
            with self._store.session() as session:
                interrupted = requests.interrupted(session)
            for request in interrupted:
                self._ended(request, RequestState.QUEUED, INTERRUPTED)

    def refresh(self) -> str | None:
        """Make Git's head known here; the commit, or None before the first."""
        with self._one_at_a_time():
            there = self._main.reached(self._repository.proposals) if self._proposals else {}
            head = self._main.look()
            self._main.follow(head)
            if self._proposals:
                self._proposals.settle(head, there, self._files)
            return head

    def publish_all(self, stop: threading.Event | None = None) -> None:
        """Work the queue off, as far as remotes and registries answer, or until told to stop."""
        while not (stop and stop.is_set()) and self.publish_next():
            pass

    def publish_next(self) -> bool:
        """Publish the request whose turn it is; False when none is due."""
        with self._one_at_a_time():
            self.recover()
            with self._store.write() as session:
                request = requests.next_queued(session, self._delays.not_due())
                if request is None:
                    return False
                now = self._clock()
                requests.move(session, request["id"], RequestState.PUBLISHING, now)
            if not request["tried"]:
                measures.QUEUE.add((), max(0.0, (now - request["created_at"]).total_seconds()))
            with working_for(request["trace"]):
                self._settle(request)
            return True

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
        path = f"sites/{site}.yaml"

        def files(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            old = self._repository.read(head, path) if head else None
            new = change(old)
            if new == old:
                return {}, note
            return {path: None if new is None else File(new)}, note

        # Whoever asks sits in a thread that others need: with a remote that has just failed to
        # answer nobody waits behind the one who tries it again.
        with self._one_at_a_time(0.0 if self.problem else PATIENCE):
            if self._proposals is None:
                return Landed(self._main.commit(files))
            head = self._main.look()
            return self._proposals.of_site(site, head, files, remove=remove) or Landed(None)

    @contextmanager
    def _one_at_a_time(self, patience: float | None = None) -> Iterator[None]:
        """Nobody else publishes or follows the branch, in this process or in another one.

        Unreachable for who has less patience (seconds) than the others take.
        """
        if not self._turn.take(patience, None if patience is None else MOST_WAITING):
            words = f"Git is at work: {self.problem}" if self.problem else "Git is at work"
            raise Unreachable(f"{words}; the change was not made", "try again in a while")
        try:
            if self._inside:
                yield
                return
            with self._store.alone("publish", patience):
                self._inside = True
                try:
                    yield
                finally:
                    self._inside = False
        finally:
            self._turn.give()

    def _settle(self, request: Mapping[str, Any]) -> None:
        """Publish a request and write what became of it."""
        name = request["id"]
        try:
            landed = self._publish(request)
        except TakenBack:
            LOG.info("request %s was taken back", name)
        except (Unreachable, Halted) as error:
            self._delays.later(name)
            self._ended(name, RequestState.QUEUED, error)
            LOG.warning("request %s waits: %s", name, error)
        except Moved as error:
            self._ended(name, RequestState.REFUSED, error)
            LOG.info("request %s is refused: %s", name, error)
        except MargraveError as error:
            self._ended(name, RequestState.FAILED, error)
            LOG.warning("request %s failed: %s", name, error)
        except Exception as error:  # a defect ends this request alone
            LOG.exception("request %s failed", name)
            self._ended(name, RequestState.FAILED, MargraveError(f"a defect: {error!r}"))
        else:
            self._delays.forget(name)
            if landed.branch and self._proposals:
                self._proposals.wait(name, landed)
                return
            now, commit = self._clock(), landed.commit
            with self._store.write() as session:
                requests.move(session, name, RequestState.PUBLISHED, now, commit=commit)

    def _publish(self, request: Mapping[str, Any]) -> Landed:
        if request["tried"]:
            done = self._already(request["id"])
            if done is not None:
                return Landed(done)
        files = self._with_last_call(request["id"], self._files(request))
        if self._proposals is None:
            return Landed(self._main.commit(files) or self._repository.head())
        head = self._main.look()
        landed = self._proposals.of_request(request["id"], head, files)
        return landed or Landed(head)

    def _files(self, request: Mapping[str, Any]) -> Files:
        """What a request makes of a head."""
        materials = Materials(self._store, self._images)

        def files(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            work = Work(self._repository, head, request, materials)
            return work.prepare(), work.note(self._clock())

        return files

    def _with_last_call(self, request: str, files: Files) -> Files:
        """The same files, made for the push: from the first time on nothing takes it back."""
        called = False

        def made(head: str | None) -> tuple[Mapping[str, File | None], Note]:
            nonlocal called
            found = files(head)
            if not called:
                with self._store.write() as session:
                    called = requests.last_call(session, request)
                if not called:
                    raise TakenBack("it was cancelled")
            return found

        return made

    def _already(self, request: str) -> str | None:
        """The commit of a request that was tried before: the push may have come through."""
        head = self._main.look()
        self._main.settle(head)
        return self._repository.commit_of_request(request, head) if head else None

    def _ended(self, request: str, state: RequestState, error: MargraveError) -> None:
        told = {"class": "", "code": _code(error), "message": error.message, "cure": error.cure}
        with self._store.write() as session:
            requests.move(session, request, state, self._clock(), error=told)

    def _pause(self, poll: float) -> float:
        """Until the poll, or until the first request that waits is due again."""
        due = self._delays.next_due()
        longest = min(poll, SHARED_PAUSE) if self._store.shared else poll
        return max(0.1, longest if due is None else min(longest, due))


def _attempt(what: str, step: Callable[[], object]) -> None:
    """Take a step; a defect must not end the thread that all work goes through."""
    try:
        step()
    except MargraveError as error:
        LOG.warning("%s pauses: %s", what, error)
    except Exception:
        LOG.exception("%s pauses", what)


def _code(error: MargraveError) -> str:
    return type(error).__name__.lower()
