"""First stage of publishing: the digests of all images that a request needs.

Each registry has a queue and a thread of its own, so a slow one delays only what needs it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from controller import measures
from controller.publish.images import host_of
from controller.publish.materials import Materials
from controller.publish.pins import Pins
from controller.publish.work import Work
from controller.store import stages
from controller.store.words import Action
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from controller.publish.delays import Delays
    from controller.publish.images import Images
    from controller.publish.repository import Repository
    from controller.store import Store

LOG = logging.getLogger(__name__)

STAGE: Final = "resolve"
AGAIN: Final = 2.0  # seconds until a database that was away is tried again
MOST_HOSTS: Final = 32  # registries with a thread of their own; further ones share one
_OTHERS: Final = "other registries"


class Outcomes(Protocol):
    """Receiver of results."""

    def resolved(self) -> None:
        """A request is ready for its commit."""

    def unresolved(self, request: str, error: Exception) -> None:
        """A request cannot go on."""


@dataclass
class _Job:
    """A request in this stage."""

    pins: Pins
    since: float = field(default_factory=time.perf_counter)

    @property
    def ready(self) -> bool:
        return not self.pins.missing


class Resolver:
    """Finds out which images a request needs, and asks their registries."""

    def __init__(self, store: Store, repository: Repository, images: Images) -> None:
        self._store = store
        self._repository = repository
        self._images = images

    def needs(self, request: Mapping[str, Any]) -> Pins:
        """Return the pins of a request with all images in `missing`, asking no registry.

        One deployment of each kind is tried on main as it is here; what the commit needs beyond
        that it says itself.
        """
        pins, change = Pins(), request["change"]
        brings = change["kind"] == Action.CREATE or change.get("version")
        if not brings or change["kind"] in (Action.DELETE, Action.ROLLBACK):
            return pins
        with self._store.session() as session:
            some = stages.kinds(session, request["id"])
        materials = Materials(self._store, pins)
        tried = {**request, "deployments": some, "change": {**change, "expected": {}}}
        try:
            Work(self._repository, self._repository.head(), tried, materials).prepare()
        except MargraveError as error:  # the commit meets it again, and reports it
            LOG.debug("request %s: %s", request["id"], error)
        return pins

    def fill(self, pins: Pins) -> None:
        """Ask for all missing digests, one after the other."""
        for image in sorted(pins.missing):
            with measures.stage(STAGE):
                pins.put(image, self._images.pinned(image))

    def pinned(self, image: str) -> str:
        """Return the image with its digest."""
        with measures.stage(STAGE):
            return self._images.pinned(image)


class ResolveStage:
    """Requests whose images are being resolved, and those that are ready."""

    def __init__(
        self, store: Store, resolver: Resolver, delays: Delays, outcomes: Outcomes
    ) -> None:
        self._store = store
        self._resolver = resolver
        self._delays = delays
        self._outcomes = outcomes
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._queues: dict[str, deque[tuple[str, str]]] = {}  # (request, image) by registry
        self._woken = threading.Event()

    def wake(self) -> None:
        """Look for new requests now."""
        self._woken.set()

    def run(self, stop: threading.Event, pause: float) -> None:
        """Take requests into the stage until `stop` is set."""
        while not stop.is_set():
            self._woken.clear()
            longest = pause
            try:
                self.tend(stop)
            except MargraveError as error:
                LOG.warning("resolving pauses: %s", error)
                longest = min(pause, AGAIN)
            except Exception:  # a defect must not end the thread that all requests go through
                LOG.exception("resolving pauses")
            self._woken.wait(self._delays.pause(longest))

    def tend(self, stop: threading.Event) -> None:
        """Begin with all requests that are due, and forget those that ended."""
        with self._store.session() as session:
            queued = stages.queued(session)
        self._delays.keep(queued)
        waiting = set(queued) - set(self._delays.not_due())
        with self._lock:
            gone = set(self._jobs) - set(queued)
            for name in gone:
                del self._jobs[name]
        for name in queued:
            if stop.is_set():
                return
            with self._lock:
                known = name in self._jobs
            if name in waiting and not known:
                self._begin(name)

    def ready(self) -> dict[str, Pins]:
        """Return the digests of all requests that are ready, by request."""
        with self._lock:
            return {name: job.pins for name, job in self._jobs.items() if job.ready}

    def again(self, request: str, pins: Pins) -> None:
        """Ask for the images that a commit found missing."""
        with self._lock:
            self._jobs[request] = _Job(pins)
        self._ask(request, sorted(pins.missing))

    def length(self) -> int:
        """Return the number of requests that wait for digests."""
        with self._lock:
            return sum(not job.ready for job in self._jobs.values())

    def _begin(self, name: str) -> None:
        with self._store.session() as session:
            request = stages.work(session, name)
        if request is None:
            return
        try:
            job = _Job(self._resolver.needs(request))
        except Exception as error:  # noqa: BLE001 - of this request alone
            self._outcomes.unresolved(name, error)
            return
        with self._lock:
            self._jobs[name] = job
        missing = sorted(job.pins.missing)
        if missing:
            self._ask(name, missing)
        else:
            self._finished(job)

    def _finished(self, job: _Job) -> None:
        measures.STAGE_WAIT.add((STAGE,), time.perf_counter() - job.since)
        self._outcomes.resolved()

    def _ask(self, request: str, images: Collection[str]) -> None:
        for image in images:
            host = host_of(image)
            with self._lock:
                if host not in self._queues and len(self._queues) >= MOST_HOSTS:
                    host = _OTHERS
                if host in self._queues:
                    self._queues[host].append((request, image))
                    continue
                self._queues[host] = deque([(request, image)])
            name = f"registry {host}"
            threading.Thread(target=self._serve, args=(host,), name=name, daemon=True).start()

    def _serve(self, host: str) -> None:
        """Work a registry's queue off; the thread ends with it."""
        while True:
            with self._lock:
                if not self._queues[host]:
                    del self._queues[host]
                    return
                request, image = self._queues[host].popleft()
                job = self._jobs.get(request)
            if job is None or image not in job.pins.missing:
                continue  # it was taken back, or failed for another image
            try:
                pinned = self._resolver.pinned(image)
            except Exception as error:  # noqa: BLE001 - of the requests that need it alone
                self._failed(host, request, error)
                continue
            with self._lock:
                job.pins.put(image, pinned)
                ready = job.ready
            if ready:
                self._finished(job)

    def _failed(self, host: str, request: str, error: Exception) -> None:
        """End the try of a request, and of all others that wait for a registry that is away."""
        names = {request}
        with self._lock:
            if isinstance(error, Unreachable) and host != _OTHERS:
                names |= {name for name, _ in self._queues[host]}
                self._queues[host].clear()
            known = [name for name in sorted(names) if self._jobs.pop(name, None)]
        for name in known:
            self._outcomes.unresolved(name, error)
