"""What everything stands on: the database, the clock, the nodes and the way to them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from margrave import durations
from runner import jumps, usability
from runner.execute import AnsibleExecutor
from runner.instruments import Instruments
from runner.nodes import Beats, LastSigns, Owner, beacon_file, own_key, with_beacon
from runner.ports import Clock, Executor, Jump, Node, NodeStatus, Target
from runner.settings import RunnerSettings
from runner.store import Store, site
from runner.store.beacons import Beacons
from runner.store.nodes import Nodes


class Ground:
    """What everything stands on: the database, the clock, the nodes and the way to them."""

    def __init__(self, settings: RunnerSettings, executor: Executor | None, clock: Clock) -> None:
        self.settings = settings
        self.folder = settings.state.dir
        self.clock = clock
        self.instruments = Instruments()
        self.store = Store(self.folder, clock)
        with self.store.write() as tx:
            site.identity_of(tx)
        self.nodes = Nodes(self.store)
        self.executor = executor or _ansible(settings)
        self.period = timedelta(seconds=durations.seconds(settings.drift.interval))
        self.beat = timedelta(seconds=durations.seconds(settings.heartbeat.interval))
        self.beats = Beats(Beacons(self.store), clock, self.beat)
        self.signs = LastSigns(clock)
        self._key: Path | None = settings.ssh.key
        self._jumps = _jumps(settings)

    def beacon(self, node: str, *, rotate: bool = False) -> dict[str, Any]:
        """What a node's beacon is told."""
        url, interval = self.settings.http.external_url, int(self.beat.total_seconds())
        beacon_file.content(node, url, "", interval)  # before a key is made that leads nowhere
        return beacon_file.content(node, url, self.beats.issue(node, rotate=rotate), interval)

    def target(self, node: Node) -> Target:
        """How a node is reached."""
        if self._key is None:
            self._key = own_key(self.folder / "ssh")
        return Target(
            node.name, node.address, node.port, node.user, str(self._key), node.host_key,
            self.jump(node.address),
        )  # fmt: skip

    def owner(self) -> Owner:
        """Return this runner as nodes know it."""
        with self.store.read() as tx:
            identity = site.identity_of(tx)
        return Owner(identity.runner, identity.epoch, self.settings.site.name)

    def jump(self, address: str) -> Jump | None:
        """The jump host in front of an address, or None."""
        return jumps.of(address, self._jumps)

    def status(self, node: Node) -> NodeStatus:
        """Return a node's status by its last sign of life."""
        seen = self.signs.age(node.name, node.last_seen)
        status = with_beacon(seen, self.beats.silence(node.name), self.beat, self.period)
        return usability.status(node.capabilities) if status is NodeStatus.ACTIVE else status


def _jumps(settings: RunnerSettings) -> list[jumps.Rule]:
    given = settings.ssh
    rules = [(jumps.read(one.host, one.host_key), one.networks) for one in given.jumps]
    return [*rules, *([(jumps.read(given.jump, given.jump_host_key), ())] if given.jump else [])]


def _ansible(settings: RunnerSettings) -> AnsibleExecutor:
    return AnsibleExecutor(
        folder=settings.state.dir / "execute",
        forks=settings.execute.forks,
        connect_timeout=settings.ssh.connect_timeout,
        handshakes=settings.ssh.handshakes,
    )
