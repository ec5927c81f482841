"""The composition root: every part of the runner, in the order of the stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask

import webhook
from runner.app.credentials import Credentials
from runner.app.ground import Ground
from runner.app.line import Line
from runner.app.work import Work
from runner.desk import Desk
from runner.instruments import BEATS, WEBHOOKS
from runner.nodes import Came, beacon_file
from runner.nodes.later import Later
from runner.outbox.client import Controller
from runner.ports import Clock, Executor, Onboarding, SystemClock
from runner.reconcile.outcomes import told
from runner.settings import RunnerSettings
from runner.web import admin, beats, hooks, public
from runner.web.status import Status


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
            "prove": (work.prove.run, work.prove.stop),
            "observe-silent": (work.observe_silent.run, work.observe_silent.stop),
            "inspect": (work.inspect.run, work.inspect.stop),
            "beats": (work.beats.run, work.beats.stop),
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
        self.work.journal.stop()
        if self.line is not None:
            self.line.controller.close()
        self.work.source.close()
        self.ground.store.close()


def build(
    settings: RunnerSettings,
    executor: Executor | None = None,
    clock: Clock | None = None,
    reload: Callable[[], RunnerSettings] | None = None,
) -> Runner:
    """Join the parts; nothing is started, and no network is used.

    `reload` reads the configuration again; without it a changed token takes a restart.
    """
    clock = clock or SystemClock()
    credentials = Credentials(settings, reload)
    ground = Ground(settings, executor, clock)
    work = Work(ground, credentials)
    controller = _controller(settings, credentials)
    line = Line(ground, work, controller) if controller else None
    onboarding = Later(lambda: _onboarding(ground))
    desk = Desk(
        ground.store, work.reconciler, work.observer, work.git.hint, onboarding, ground.beacon
    )
    status = Status(
        site=settings.site.name,
        store=ground.store,
        node_status=ground.status,
        last_tick=lambda: work.reconciler.last_tick,
        tick_age=work.reconciler.tick_age,
        tick_trouble=lambda: work.reconciler.trouble,
        git=lambda: told(work.watch.last),
        trouble=line.trouble if line else lambda: "",
        log=work.journal.read,
        instruments=ground.instruments,
    )
    deliveries = webhook.Deliveries()
    token = settings.http.token
    doors = (
        webhook.door(
            settings.hooks.secrets,
            [webhook.Followed(settings.git.remote, "refs/heads/main")],
            lambda _: work.git.hint(),
            lambda: clock().timestamp(),
            deliveries,
            lambda forge, result: ground.instruments.count(WEBHOOKS, forge, result),
        ),
        hooks.lookup(deliveries, lambda: work.looked_at, status, token),
        beats.door(
            lambda *given: ground.beats.take(Came(*given)),
            clock,
            int(ground.beat.total_seconds()),
            lambda result: ground.instruments.count(BEATS, result),
        ),
    )
    return Runner(
        ground=ground,
        work=work,
        line=line,
        public=public.create_app(status, token, *doors),
        admin=admin.create_app(status, desk, onboarding, settings.ssh.port),
    )


def _controller(settings: RunnerSettings, credentials: Credentials) -> Controller | None:
    given = settings.controller
    if not given.url or not given.token:
        return None
    return Controller(given.url, settings.site.name, given.token, given, credentials.token)


def _onboarding(ground: Ground) -> Onboarding:
    # Here, because of what Later says.
    from runner.nodes.onboard import Onboard

    return Onboard(
        nodes=ground.nodes,
        executor=ground.executor,
        key_folder=ground.folder / "ssh",
        clock=ground.clock,
        owner=ground.owner,
        connect_timeout=ground.settings.ssh.connect_timeout,
        key=ground.settings.ssh.key,
        user=ground.settings.ssh.user,
        beacon=_beacon_text(ground),
        jump=ground.jump,
    )


def _beacon_text(ground: Ground) -> Callable[[str], str] | None:
    if not ground.settings.http.external_url:
        return None
    return lambda node: beacon_file.text(ground.beacon(node))
