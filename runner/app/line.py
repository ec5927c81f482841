"""The line to the controller."""

from __future__ import annotations

from margrave import durations
from runner.app.ground import Ground
from runner.app.work import Work
from runner.outbox.client import Controller
from runner.outbox.heartbeat import Heart
from runner.outbox.sender import Sender
from runner.outbox.stream import Stream
from runner.reconcile.commands import Commands
from runner.reconcile.loop import Repeater
from runner.store import site


class Line:
    """The line to the controller."""

    def __init__(self, ground: Ground, work: Work, controller: Controller) -> None:
        self._ground, self._work = ground, work
        self.controller = controller
        self._commands = Commands(
            ground.store,
            ground.executor,
            work.look_at,
            work.git.hint,
            work.wanted_release,
            work.operations.traces.asked,
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
        known = self._work.watch.newest()
        with self._ground.store.read() as tx:
            halted = site.site_state(tx).halted or {}
        if head not in (known.commit if known else None, halted.get("commit")):
            self._work.git.hint()

    def _on_command(self, command: object) -> None:
        with self._work.reconciler.turn:
            self._commands.handle(command)
        self._work.reconciler.wake()
