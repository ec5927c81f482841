"""A site with its repository, its pretended nodes and its real runner, driven step by step."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.ports import Node, NodeStatus, utc_now
from runner.settings import Git, RunnerSettings, Site
from runner.store import Placement, operations, outbox, placements, site
from tests.support.edge import CAPABILITIES, FakeExecutor
from tests.support.repository import STOREFRONT, Repository


class _Clock:
    """The clocks of a world's runner."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self) -> datetime:
        return self._world._now()

    def monotonic(self) -> float:
        return time.monotonic() + self._world.later.total_seconds()


class World:
    """A site with its repository, its nodes and its runner."""

    def __init__(self, base: Path, **settings: Any) -> None:
        self.base = base
        self.settings = settings
        self.later = timedelta()  # by which time has gone by faster for the runner than for us
        self.stepped = timedelta()  # by which its wall clock alone was set
        self.repository = Repository(base)
        self.executor = FakeExecutor("harbor-1", "harbor-2")
        self.executor.now = self._now
        self.executor.monotonic = _Clock(self).monotonic
        self.runner = self._build()
        for number, name in enumerate(self.executor.nodes, 1):
            self.runner.ground.nodes.save(
                Node(
                    name,
                    f"192.0.2.{number}",
                    host_key="ssh-ed25519 AAAA",
                    capabilities=CAPABILITIES,
                    last_seen=datetime.now(UTC),
                    status=NodeStatus.ACTIVE,
                )
            )

    def _build(self) -> Runner:
        settings = RunnerSettings(
            site=Site(name="harbor"),
            git=Git(remote=str(self.repository.bare)),
            state=StateFolder(dir=self.base / "state"),
            **self.settings,
        )
        return build(settings, executor=self.executor, clock=_Clock(self))

    def _now(self) -> datetime:
        return utc_now() + self.later + self.stepped

    def restart(self) -> None:
        """As after kill -9: nothing of the process remains, the state folder does."""
        self.runner.work.source.close()
        self.runner.ground.store.close()
        self.runner = self._build()
        self.runner.work.operations.resume()

    def settle(self) -> None:
        """Look at Git and work until nothing is due."""
        self.runner.work.reconciler.once(10)

    def placements(self) -> dict[str, Placement]:
        """The newest placements by node."""
        with self.runner.ground.store.read() as tx:
            return {one.node: one for one in placements.newest(tx)}

    def told(self) -> list[tuple[str, str | None, str]]:
        """(node, from, to) of each transition, in the order of the report."""
        with self.runner.ground.store.read() as tx:
            rows = outbox.waiting(tx, 10_000)
        return [
            (row.data["node"], row.data["from"], row.data["to"])
            for row in rows
            if row.kind == "placement" and row.data["to"]
        ]

    def versions(self) -> dict[str, str | None]:
        """What runs on each node."""
        return {
            name: node.running.get(STOREFRONT, {}).get("version")
            for name, node in self.executor.nodes.items()
        }

    def hurry(self) -> None:
        """Let all backoffs be over."""
        store = self.runner.ground.store
        with store.write() as tx:
            for one in placements.newest(tx):
                placements.write(tx, replace(one, next_attempt_at=None, heals=()))
            for operation in operations.unfinished(tx):
                operations.change(tx, operation.id, next_try_at=None)

    def halted(self) -> str:
        """Why the site is halted; empty when it is not."""
        with self.runner.ground.store.read() as tx:
            return str((site.site_state(tx).halted or {}).get("reason", ""))
