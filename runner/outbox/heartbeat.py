"""Heartbeats: we live, this is how far we are; the answer says what to look at."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from margrave.errors import MargraveError
from runner.outbox.bodies import PROTOCOL
from runner.outbox.trouble import trouble_of
from runner.ports import NodeStatus
from runner.store import Store, nodes, site
from runner.store.resources import moment

_log = logging.getLogger(__name__)


class Heartbeats(Protocol):
    """Where heartbeats go."""

    def heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Say that we live; the answer."""


class Heart:
    """Beats: never queued, since an old beat says nothing."""

    def __init__(
        self,
        store: Store,
        controller: Heartbeats,
        on_head: Callable[[str], None],
        on_command: Callable[[Any], None],
        status: Callable[[Any], NodeStatus],
    ) -> None:
        self._store = store
        self._controller = controller
        self._on_head = on_head
        self._on_command = on_command
        self._status = status
        self.trouble = ""

    def beat(self) -> None:
        """One beat; a controller that is away is told of once."""
        try:
            answer = self._controller.heartbeat(self._body())
        except MargraveError as error:
            if not self.trouble:
                _log.warning("no heartbeat reaches the controller: %s", error)
            self.trouble = trouble_of(error)
            return
        except Exception as error:
            self.trouble = trouble_of(error)
            raise  # whoever lets it beat again and again logs it
        self.trouble = ""
        self._hear_of_epoch(answer.get("epoch"))
        head = answer.get("head")
        if isinstance(head, str) and head:
            self._on_head(head)
        commands = answer.get("commands")
        for command in commands if isinstance(commands, list) else ():
            self._on_command(command)

    def _hear_of_epoch(self, epoch: object) -> None:
        with self._store.read() as tx:
            known = site.site_state(tx).known_epoch
        if isinstance(epoch, int) and epoch > known:
            with self._store.write() as tx:
                site.hear_of_epoch(tx, epoch)

    def _body(self) -> dict[str, Any]:
        with self._store.read() as tx:
            who, held, known = site.identity_of(tx), site.site_state(tx), nodes.all_nodes(tx)
            now = tx.now
        return {
            "protocol": PROTOCOL,
            "runner": who.runner,
            "epoch": who.epoch,
            "at": moment(now),
            "applied_commit": held.applied_commit,
            "nodes": [
                {
                    "name": one.name,
                    "status": self._status(one).value,
                    "last_seen": moment(one.last_seen),
                    "error": one.error,
                }
                for one in known
            ],
        }
