"""What makes the nodes run what Git says."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from margrave import durations
from margrave.documents.extensions import Health
from margrave.errors import Unreachable
from margrave.secret import Secret
from runner.app.credentials import Credentials
from runner.app.ground import Ground
from runner.instruments import GIT, GIT_SECONDS
from runner.nodes import News
from runner.ports import NodeStatus
from runner.reconcile.ahead import Ahead
from runner.reconcile.calls import Calls
from runner.reconcile.inspection import INSPECT_SECONDS, Inspection
from runner.reconcile.journal import Journal
from runner.reconcile.limits import narrowed
from runner.reconcile.loop import Reconciler, Repeater
from runner.reconcile.observe import Observer
from runner.reconcile.operations import Operations
from runner.reconcile.outcomes import Waiting, told
from runner.reconcile.sensitive import Secrets, Sensitive
from runner.reconcile.stability import Windows
from runner.reconcile.stalls import Stalls
from runner.reconcile.steps import Parts
from runner.reconcile.tidy import EVERY_SECONDS, Tidying
from runner.reconcile.watch import Watch
from runner.sealed import Sealed
from runner.settings import RunnerSettings
from runner.source import Access, Clone, Components, Source

# After a hint Git is left alone for so long: a burst of hints is one fetch and one question.
_GATHER_SECONDS: Final = 1.0
# A remote that is down is asked ever more rarely, up to every eighth interval.
_SLOWEST_POLL: Final = 8
# What beacons said is written so often: far below the three periods that make a node stale.
_BEATS_SECONDS: Final = 3.0


class Work:
    """What makes the nodes run what Git says."""

    def __init__(self, ground: Ground, credentials: Credentials) -> None:
        settings, store = ground.settings, ground.store
        self.woken = threading.Event()
        sealed = Sealed(settings.secrets.age_key)
        self.source = _source(settings, sealed, credentials)
        self.watch = Watch(store, self.source)
        self.observer = Observer(
            store,
            ground.executor,
            ground.target,
            ground.status,
            self.woken.set,
            ground.instruments,
            ground.signs.note,
            Windows(store.order, store.monotonic, self._stable_of),
        )
        secrets = Secrets(
            settings.secrets.dir,
            ground.folder / "secrets.key",
            lambda: sealed.secrets(self._sealed_files()),
        )
        self.journal = journal = Journal(ground.folder / "logs", store)
        self._release_of = secrets.release_of
        stalls = Stalls()
        self._calls_made = calls = self._calls(ground, secrets)
        self.operations = Operations(
            store=store,
            executor=ground.executor,
            calls=calls,
            journal=journal,
            wake=self.woken.set,
            instruments=ground.instruments,
            stalls=stalls,
        )
        parts = Parts(
            site=settings.site.name,
            store=store,
            watch=self.watch,
            observer=self.observer,
            operations=self.operations,
            ahead=Ahead(store, ground.executor, calls, self.woken.set),
            release_of=secrets.release_of,
            stalls=stalls,
            per_node=settings.execute.per_node,
            is_active=lambda node: ground.status(node) is NodeStatus.ACTIVE,
            look_at=self._look_when_stable,
        )
        self.reconciler = Reconciler(parts, ground.clock, self.woken, ground.instruments)
        self._instruments = ground.instruments
        self.looked_at: datetime | None = None  # when the newest answer of Git was asked for
        self._clock = ground.clock
        self._repeat(ground, journal)

    def _calls(self, ground: Ground, secrets: Secrets) -> Calls:
        settings = ground.settings
        own_policy = settings.policy.model_dump()
        return Calls(
            desired=self.watch.desired,
            release_of=secrets.release_of,
            policy=lambda document: narrowed(document, own_policy),
            target=ground.target,
            sensitive=Sensitive(secrets, settings.registries),
        )

    def _repeat(self, ground: Ground, journal: Journal) -> None:
        """What is done again and again, each at its own pace, and what beacons hint at."""
        self.git = Repeater(
            "git",
            durations.seconds(ground.settings.poll.interval),
            self._look,
            gather=_GATHER_SECONDS,
            slowest=_SLOWEST_POLL,
        )
        seconds = ground.period.total_seconds()
        look = self.observer.look
        self.observe = Repeater(
            "observe", seconds, lambda _: look(silent=False), gather=_GATHER_SECONDS
        )
        self.inspection = inspection = Inspection(ground.nodes, ground.executor, ground.target)
        self.observe_silent = Repeater(
            "observe-silent", seconds, lambda _: self.recheck(), gather=_GATHER_SECONDS
        )
        self.prove = Repeater(
            "prove",
            INSPECT_SECONDS,
            lambda _: self.observer.look_asked(),
            at_once=False,
            gather=_GATHER_SECONDS,
        )
        self.inspect = Repeater(
            "inspect", INSPECT_SECONDS, lambda _: inspection.look(), at_once=False
        )
        self.beats = Repeater("beats", _BEATS_SECONDS, lambda _: ground.beats.sync())
        ground.beats.news = News(
            back=self.observer.heard_again,
            # It may have other hardware, another engine, nothing running.
            restarted=lambda name: self.look_at([name]),
            changed=self.observe.hint,
            silent=self.observe.hint,
        )
        tidying = Tidying(ground.store, journal, self.watch)
        self.tidying = Repeater("tidy", EVERY_SECONDS, lambda _: tidying.run(), at_once=False)

    def _stable_of(self, deployment: str) -> float:
        try:
            health = self._calls_made.extensions(deployment).health
        except Exception:  # noqa: BLE001 - reported where it is planned; it holds no other deployment
            health = Health()
        return float(durations.parse(health.stable))

    def _look_when_stable(self, nodes: Collection[str]) -> None:
        self.observer.ask(nodes)
        self.prove.hint()

    def recheck(self) -> None:
        """Check the nodes that did not answer, or can run nothing, once more."""
        self.inspection.recheck_unusable()
        self.observer.look(silent=True)

    def _sealed_files(self) -> Mapping[str, bytes]:
        desired = self.watch.desired()
        return desired.secrets if desired else {}

    def wanted_release(self, deployment: str) -> str | None:
        """The release that Git wants of a deployment."""
        desired = self.watch.desired()
        document = desired.deployment(deployment) if desired else None
        return self._release_of(document) if document else None

    def look_at(self, nodes: Sequence[str]) -> None:
        """Have these nodes told anew what they can do and what runs on them, and wait for none."""
        self.inspection.ask(nodes)
        self.inspect.hint()
        self.observe.hint()
        self.observe_silent.hint()

    def _look(self, hinted: bool) -> None:
        before, began = self.watch.newest(), self._clock()
        kind = "fetch" if hinted else "poll"
        with self._instruments.timed(GIT_SECONDS, kind):
            outcome = self.watch.look(hinted=hinted)
        self._instruments.count(GIT, kind, told(outcome)["state"])
        if isinstance(outcome, Waiting):
            raise Unreachable(outcome.reason)
        self.looked_at = began
        if self.watch.newest() is not before:
            self.woken.set()


def _source(settings: RunnerSettings, sealed: Sealed, credentials: Credentials) -> Source:
    given, folder = settings.git, settings.state.dir
    access = Access(
        remote=given.remote,
        username=given.username or "",
        ssh_key=str(given.ssh_key or ""),
        known_hosts=str(given.known_hosts or ""),
        ca_file=str(given.ca_file or ""),
        cert=str(given.cert or ""),
        key=str(given.key or ""),
        password=given.password or Secret(""),
        current_password=credentials.password,
    )
    return Source(
        settings.site.name,
        Clone(folder / "source" / "deployments.git", access),
        Components(folder / "components"),
        str(given.allowed_signers or ""),
        sealed.secrets,
    )
