"""The composition root: every part of the runner, in the order of the stack."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from flask import Flask

import webhook
from margrave import durations
from margrave.errors import Unreachable
from margrave.secret import Secret
from runner.desk import Desk
from runner.execute import AnsibleExecutor
from runner.nodes import Onboard, freshness, own_key
from runner.outbox.client import Controller
from runner.outbox.heartbeat import Heart
from runner.outbox.sender import Sender
from runner.outbox.stream import Stream
from runner.ports import Clock, Executor, Node, NodeStatus, Target, utc_now
from runner.reconcile.commands import Commands
from runner.reconcile.journal import Journal
from runner.reconcile.limits import narrowed
from runner.reconcile.loop import Reconciler, Repeater
from runner.reconcile.observe import Observer
from runner.reconcile.operations import Dispatch, Operations
from runner.reconcile.outcomes import Waiting
from runner.reconcile.sensitive import Secrets, Sensitive
from runner.reconcile.steps import Parts
from runner.reconcile.tidy import EVERY_SECONDS, tidy
from runner.reconcile.watch import Watch
from runner.settings import RunnerSettings
from runner.source import Access, Clone, Components, Source
from runner.store import Store, site
from runner.store.nodes import Nodes
from runner.web import admin, hooks, public
from runner.web.status import Status

# After a hint Git is left alone for so long: a burst of hints is one fetch and one question.
_GATHER_SECONDS: Final = 1.0
# A remote that is down is asked ever more rarely, up to every eighth interval.
_SLOWEST_POLL: Final = 8


class Ground:
    """What everything stands on: the database, the clock, the nodes and the way to them."""

    def __init__(self, settings: RunnerSettings, executor: Executor | None, clock: Clock) -> None:
        self.settings = settings
        self.folder = settings.state.dir
        self.clock = clock
        self.store = Store(self.folder, clock)
        with self.store.write() as tx:
            site.identity_of(tx)
        self.nodes = Nodes(self.store)
        self.executor = executor or _ansible(settings)
        self.period = timedelta(seconds=durations.seconds(settings.drift.interval))
        self._key: Path | None = settings.ssh.key

    def target(self, node: Node) -> Target:
        """How a node is reached."""
        if self._key is None:
            self._key = own_key(self.folder / "ssh")
        return Target(node.name, node.address, node.port, node.user, str(self._key), node.host_key)

    def status_at(self, node: Node, now: Any) -> NodeStatus:
        """A node's status by its last sign of life."""
        return freshness(node.last_seen, now, self.period)

    def status(self, node: Node) -> NodeStatus:
        """A node's status now."""
        return self.status_at(node, self.clock())


class Work:
    """What makes the nodes run what Git says."""

    def __init__(self, ground: Ground) -> None:
        settings, store = ground.settings, ground.store
        self.woken = threading.Event()
        self.source = _source(settings)
        self.watch = Watch(store, self.source)
        self.observer = Observer(
            store, ground.executor, ground.target, ground.status, self.woken.set
        )
        secrets = Secrets(settings.secrets.dir, ground.folder / "secrets.key")
        journal = Journal(ground.folder / "logs", store)
        self._release_of = secrets.release_of
        own_policy = settings.policy.model_dump()
        self.operations = Operations(
            store=store,
            executor=ground.executor,
            dispatch=Dispatch(ground.target, Sensitive(secrets, _logins(settings))),
            journal=journal,
            desired=self.watch.desired,
            release_of=secrets.release_of,
            policy=lambda document: narrowed(document, own_policy),
            wake=self.woken.set,
        )
        parts = Parts(
            site=settings.site.name,
            store=store,
            watch=self.watch,
            observer=self.observer,
            operations=self.operations,
            release_of=secrets.release_of,
            is_active=lambda node, now: ground.status_at(node, now) is NodeStatus.ACTIVE,
        )
        self.reconciler = Reconciler(parts, ground.clock, self.woken)
        self.looked_at: datetime | None = None  # when the newest answer of Git was asked for
        self._clock = ground.clock
        self.git = Repeater(
            "git",
            durations.seconds(settings.poll.interval),
            self._look,
            gather=_GATHER_SECONDS,
            slowest=_SLOWEST_POLL,
        )
        seconds = ground.period.total_seconds()
        self.observe = Repeater("observe", seconds, lambda _: self.observer.look())
        self.tidying = Repeater(
            "tidy", EVERY_SECONDS, lambda _: tidy(store, journal, self.watch), at_once=False
        )

    def wanted_release(self, deployment: str) -> str | None:
        """The release that Git wants of a deployment."""
        desired = self.watch.desired()
        document = desired.deployment(deployment) if desired else None
        return self._release_of(document) if document else None

    def _look(self, hinted: bool) -> None:
        before, began = self.watch.desired(), self._clock()
        outcome = self.watch.look(hinted=hinted)
        if isinstance(outcome, Waiting):
            raise Unreachable(outcome.reason)
        self.looked_at = began
        if self.watch.desired() is not before:
            self.woken.set()


class Line:
    """The line to the controller."""

    def __init__(self, ground: Ground, work: Work, controller: Controller) -> None:
        self._ground, self._work = ground, work
        self.controller = controller
        self._commands = Commands(
            ground.store,
            ground.executor,
            work.watch,
            work.observer,
            ground.target,
            work.git.hint,
            work.wanted_release,
        )
        self.heart = Heart(ground.store, controller, self._on_head, self._on_command, ground.status)
        interval = durations.seconds(ground.settings.heartbeat.interval)
        self.beats = Repeater("heartbeat", interval, lambda _: self.heart.beat())
        self.sender = Sender(ground.store, controller)
        self.stream = Stream(controller, work.git.hint, self.beats.hint)

    def trouble(self) -> str:
        """Why the controller is not reached; empty when it is."""
        return self.heart.trouble or self.sender.trouble

    def _on_head(self, head: str) -> None:
        """A head that was neither taken nor refused is news."""
        known = self._work.watch.desired()
        with self._ground.store.read() as tx:
            halted = site.site_state(tx).halted or {}
        if head not in (known.commit if known else None, halted.get("commit")):
            self._work.git.hint()

    def _on_command(self, command: Mapping[str, Any]) -> None:
        with self._work.reconciler.turn:
            self._commands.handle(command)
        self._work.reconciler.wake()


@dataclass(frozen=True)
class Runner:
    """A runner whose parts are joined and whose threads are not started yet."""

    ground: Ground
    work: Work
    line: Line | None
    public: Flask
    admin: Flask

    def threads(self) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
        """What runs beside the servers: how to run it and how to stop it, by name."""
        work = self.work
        running = {
            "ticks": (work.reconciler.run, work.reconciler.stop),
            "git": (work.git.run, work.git.stop),
            "observe": (work.observe.run, work.observe.stop),
            "tidy": (work.tidying.run, work.tidying.stop),
        }
        if self.line is not None:
            line = self.line
            running |= {
                "heartbeat": (line.beats.run, line.beats.stop),
                "reports": (line.sender.run, line.sender.stop),
                "stream": (line.stream.run, line.stream.stop),
            }
        return running

    def close(self) -> None:
        """Let go of files and processes; what was running is taken up at the next start."""
        self.ground.executor.stop()
        if self.line is not None:
            self.line.controller.close()
        self.work.source.close()
        self.ground.store.close()


def build(
    settings: RunnerSettings, executor: Executor | None = None, clock: Clock = utc_now
) -> Runner:
    """Join the parts; nothing is started, and no network is used."""
    ground = Ground(settings, executor, clock)
    work = Work(ground)
    controller = _controller(settings)
    line = Line(ground, work, controller) if controller else None
    onboarding = _onboarding(ground)
    desk = Desk(ground.store, work.reconciler, work.observer, work.git.hint, onboarding)
    status = Status(
        site=settings.site.name,
        store=ground.store,
        node_status=ground.status,
        last_tick=lambda: work.reconciler.last_tick,
        git=lambda: repr(work.watch.last),
        trouble=line.trouble if line else lambda: "",
    )
    deliveries = webhook.Deliveries()
    token = settings.http.token
    doors = (
        webhook.door(
            settings.hooks.secrets,
            [settings.git.remote],
            "main",
            lambda _: work.git.hint(),
            lambda: clock().timestamp(),
            deliveries,
        ),
        hooks.lookup(deliveries, lambda: work.looked_at, status, token),
    )
    return Runner(
        ground=ground,
        work=work,
        line=line,
        public=public.create_app(status, token, *doors),
        admin=admin.create_app(status, desk, onboarding),
    )


def _ansible(settings: RunnerSettings) -> AnsibleExecutor:
    return AnsibleExecutor(
        folder=settings.state.dir / "execute",
        forks=settings.execute.forks,
        connect_timeout=settings.ssh.connect_timeout,
        jump=settings.ssh.jump,
    )


def _source(settings: RunnerSettings) -> Source:
    given, folder = settings.git, settings.state.dir
    access = Access(
        remote=given.remote,
        username=given.username or "",
        ssh_key=str(given.ssh_key or ""),
        known_hosts=str(given.known_hosts or ""),
        ca_file=str(given.ca_file or ""),
        password=given.password or Secret(""),
    )
    return Source(
        settings.site.name,
        Clone(folder / "source" / "deployments.git", access),
        Components(folder / "components"),
        str(given.allowed_signers or ""),
    )


def _controller(settings: RunnerSettings) -> Controller | None:
    given = settings.controller
    if not given.url or not given.token:
        return None
    return Controller(given.url, settings.site.name, given.token, str(given.ca_file or ""))


def _onboarding(ground: Ground) -> Onboard:
    return Onboard(
        nodes=ground.nodes,
        executor=ground.executor,
        key_folder=ground.folder / "ssh",
        clock=ground.clock,
        connect_timeout=ground.settings.ssh.connect_timeout,
        key=ground.settings.ssh.key,
        user=ground.settings.ssh.user,
    )


def _logins(settings: RunnerSettings) -> list[tuple[str, str, Path]]:
    return [
        (one.host, one.username, one.password_file)
        for one in settings.registries
        if one.username and one.password_file
    ]
