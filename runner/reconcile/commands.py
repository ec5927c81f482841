"""Commands from an operator, by way of the controller or the socket: each is handled once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from margrave.errors import MargraveError, NotFound
from margrave.lifecycle import WORKING, Kind, State
from margrave.lifecycle import Outcome as Fate
from runner.ports import Executor
from runner.reconcile import endings, orders
from runner.reconcile.orders import Order
from runner.store import (
    OperationState,
    Placement,
    Store,
    Transaction,
    operations,
    outbox,
    placements,
    site,
    transitions,
)
from runner.store.nodes import Nodes
from runner.store.resources import site_resource

_log = logging.getLogger(__name__)


class Commands:
    """Carries out commands; the tick that follows does the work they ask for."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        look_at: Callable[[Sequence[str]], None],
        hint: Callable[[], None],
        wanted_release: Callable[[str], str | None],
        asked: Callable[[str, str, object], None] = lambda *_: None,
    ) -> None:
        self._store = store
        self._nodes = Nodes(store)
        self._executor = executor
        self._look_at = look_at
        self._hint = hint
        self._wanted_release = wanted_release
        self._asked = asked  # deployment, node, and the id of the request that led here

    def handle(self, command: object) -> None:
        """Carry it out unless that was done before; either way it is acknowledged.

        What cannot be understood is refused, and holds none of those behind it.
        """
        identifier = orders.identifier(command)
        if not isinstance(command, Mapping) or not identifier:
            _log.warning("a command without an id is let go: nobody could be answered")
            return
        with self._store.read() as tx:
            known = site.handled(tx, identifier)
        if known is None:
            result, detail = self._result(identifier, command)
            with self._store.write() as tx:
                site.note_command(tx, identifier, result, detail)
        else:
            result, detail = str(known["result"]), str(known["detail"])
        with self._store.write() as tx:
            data = {"id": identifier, "result": result, "detail": detail}
            outbox.append(tx, "command", data)

    def _result(self, identifier: str, command: Mapping[str, object]) -> tuple[str, str]:
        try:
            order = orders.read(command)
            return "done", _KINDS[order.kind](self, order)
        except MargraveError as error:
            return "refused", str(error)
        except Exception as error:  # noqa: BLE001 - told; a defect holds none of those behind it
            # Where the disk is full the answer cannot be written down either: it comes again.
            _log.exception("command %s could not be carried out", identifier)
            return "refused", f"it could not be carried out: {type(error).__name__}"

    def _retry(self, order: Order) -> str:
        """Try a revision again that failed, went back or was held."""
        with self._store.write() as tx:
            chosen = _chosen(tx, order)
            placements.lift_quarantine(tx, order.deployment)
            return self._try_again(tx, chosen, order)

    def _release(self, order: Order) -> str:
        """Lift the quarantine: the wanted revision may be tried again."""
        with self._store.write() as tx:
            lifted = placements.lift_quarantine(tx, order.deployment)
            return f"{lifted} released; " + self._try_again(tx, _chosen(tx, order), order)

    def _cancel(self, order: Order) -> str:
        """Stop what is at work and go back; wait with what has not begun."""
        running: list[str] = []
        with self._store.write() as tx:
            chosen = _chosen(tx, order)
            at_work = {(one.deployment, one.node): one for one in operations.unfinished(tx)}
            told: dict[str, list[Placement]] = {"cancelled": [], "still at work": []}
            for one in chosen:
                operation = at_work.get((one.deployment, one.node))
                if operation is None:
                    words = _hold(tx, one, self._wanted_release(one.deployment))
                elif one.state in (State.INSTALLING, State.UPDATING):
                    words = "cancelled"
                    noted = transitions.note(tx, one, cancelled=True, reason="cancelled")
                    if one.state is State.UPDATING:  # it asks for the way back
                        self._asked(one.deployment, one.node, order.trace)
                    if operation.state is OperationState.RUNNING:
                        running.append(operation.id)
                    else:
                        endings.cancel(tx, operation, noted)
                else:
                    words = "still at work"  # what goes back or goes away is finished
                told.setdefault(words, []).append(one)
        for identifier in running:
            self._executor.cancel(identifier)
        first = _told("cancelled", told.pop("cancelled"))
        return "; ".join([first, *(_told(words, found) for words, found in told.items() if found)])

    def _reload(self, order: Order) -> str:
        """Have Git and the nodes looked at anew; a silent node holds no command and no tick."""
        nodes = [self._nodes.get(order.node)] if order.node else self._nodes.list()
        self._look_at([one.name for one in nodes])
        self._hint()
        return f"{len(nodes)} nodes are asked"

    def _accept(self, order: Order) -> str:
        """Take a rewritten history."""
        with self._store.write() as tx:
            held = site.change_site(tx, accepted_commit=order.commit)
            outbox.append(tx, "site", site_resource(held))
        self._hint()
        return f"{order.commit} is taken if it is the branch's head or leads to it"

    def _forget(self, order: Order) -> str:
        """Drop a node that will not come back, with its placements."""
        self._nodes.get(order.node)
        forget_placements(self._store, order.node)
        self._nodes.remove(order.node)
        return f"{order.node} is forgotten"

    def _try_again(self, tx: Transaction, chosen: Sequence[Placement], order: Order) -> str:
        resting = [one for one in chosen if one.state not in WORKING]
        for one in resting:
            transitions.note(tx, one, **_anew(one))
            if one.outcome is not Fate.SUCCEEDED:
                self._asked(one.deployment, one.node, order.trace)
        at_work = [one for one in chosen if one.state in WORKING]
        told = _told("tried again", resting)
        return f"{told}; {_told('still at work', at_work)}" if at_work else told


_KINDS: Final[Mapping[str, Callable[[Commands, Order], str]]] = {
    "retry": Commands._retry,
    "release": Commands._release,
    "cancel": Commands._cancel,
    "reload": Commands._reload,
    "accept": Commands._accept,
    "forget": Commands._forget,
}


def forget_placements(store: Store, node: str) -> None:
    """A node is gone for good: what stood on it is DELETED, without asking it."""
    why = f"{node} was removed from the site"
    with store.write() as tx:
        for operation in operations.unfinished(tx):
            if operation.node == node:
                operations.change(tx, operation.id, state=OperationState.CANCELLED, ended_at=tx.now)
        for one in placements.newest(tx):
            if one.node != node:
                continue
            if one.state is State.DELETED:
                transitions.note(tx, one, keeps_data=False)  # its volumes went with the node
                continue
            if one.state is not State.DELETING:
                one = transitions.move(tx, one, State.DELETING, why)  # noqa: PLW2901
            transitions.move(
                tx, one, State.DELETED, why, outcome=Fate.SUCCEEDED, waiting=None, release=None,
                revision=None, version=None, keeps_data=False,
            )  # fmt: skip


def _chosen(tx: Transaction, order: Order) -> list[Placement]:
    found = [
        one
        for one in placements.newest(tx)
        if one.deployment == order.deployment
        and (not order.node or one.node == order.node)
        and one.state is not State.DELETED
    ]
    if not found:
        raise NotFound(f"no placement of {order.deployment} at this site")
    return found


def _anew(one: Placement) -> dict[str, Any]:
    """As if it had never been tried: attempts, backoff and outcome begin anew."""
    changes: dict[str, Any] = {"cancelled": False, "next_attempt_at": None, "attempt": 0}
    if one.outcome is not Fate.SUCCEEDED:
        changes |= {"outcome": Fate.PENDING, "tried_release": None, "heals": []}
        changes["reason"] = "an operator asked for another try"
    return changes


def _hold(tx: Transaction, one: Placement, wanted: str | None) -> str:
    """Nothing is at work: what has not begun does not begin, what failed is not retried.

    What became of it, in words; a delete has nothing to go back to, so it is retried all the same.
    """
    if one.outcome not in (Fate.PENDING, Fate.FAILED, Fate.ROLLBACK_FAILED):
        return "nothing to cancel"
    if one.state is not State.FAILED:
        transitions.note(tx, one, outcome=Fate.HELD, tried_release=wanted, reason="cancelled")
    elif one.kind is Kind.DELETE:
        return "still being deleted"
    else:
        transitions.note(tx, one, outcome=Fate.HELD, cancelled=True, reason="cancelled")
    return "cancelled"


def _told(words: str, chosen: Sequence[Placement]) -> str:
    return f"{words} on {', '.join(sorted(one.node for one in chosen)) or 'no node'}"
