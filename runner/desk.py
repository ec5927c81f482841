"""What an administrator asks of the running runner, through its socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from margrave.errors import Conflict
from margrave.lifecycle import Outcome, State
from runner.outbox.snapshot import append_snapshot
from runner.ports import Onboarding
from runner.reconcile.claims import NOT_OURS
from runner.reconcile.commands import forget_placements
from runner.reconcile.loop import Reconciler
from runner.reconcile.observe import Observer
from runner.store import Placement, Store, Transaction, outbox, placements, site, transitions
from runner.store.nodes import Nodes
from runner.store.resources import site_resource

# Until the thread that asks gives up: long enough for a release that fails and goes back.
_ONCE_SECONDS: Final = 600.0


class Desk:
    """Lock, unlock, take over, accept, once, and taking nodes off."""

    def __init__(
        self,
        store: Store,
        reconciler: Reconciler,
        observer: Observer,
        hint_git: Callable[[], None],
        onboarding: Onboarding,
        beacon: Callable[..., dict[str, Any]],
    ) -> None:
        self._store = store
        self._nodes = Nodes(store)
        self._reconciler = reconciler
        self._observer = observer
        self._hint_git = hint_git
        self._onboarding = onboarding
        self._beacon = beacon

    def lock(self, owner: str, reason: str, until: str | None) -> dict[str, Any]:
        """Start nothing new at this site; what is at work ends."""
        return self._held(locked={"owner": owner, "reason": reason, "until": until})

    def unlock(self) -> dict[str, Any]:
        """Go on."""
        return self._held(locked=None)

    def takeover(self) -> dict[str, Any]:
        """Claim the site: an epoch above all that state folder, nodes and controller know."""
        self._observer.look()
        with self._reconciler.turn, self._store.write() as tx:
            site.raise_epoch(tx, _highest(tx) + 1)
            site.change_site(tx, stood_down=None)
            _try_again(tx)
            append_snapshot(tx)
            epoch = site.identity_of(tx).epoch
        self._reconciler.wake()
        return {"epoch": epoch}

    def accept(self, commit: str) -> dict[str, Any]:
        """Take a rewritten history that this commit belongs to."""
        answer = self._held(accepted_commit=commit)
        self._hint_git()
        return answer

    def once(self) -> dict[str, Any]:
        """Fetch and work until nothing is due and nothing is at work."""
        return self._reconciler.once(_ONCE_SECONDS)

    def remove_node(self, name: str, *, forget: bool) -> None:
        """Take a node off; what stands on it is taken off before, or forgotten in so many words."""
        self._nodes.get(name)
        with self._store.read() as tx:
            on_it = [one.name for one in placements.newest(tx) if _stands_on(one, name)]
        if on_it and not forget:
            raise Conflict(
                f"{name} still has {', '.join(sorted(on_it))}",
                "drain it first, or add --forget (API: forget=true) when it will not come back",
            )
        self._onboarding.remove(name)
        with self._reconciler.turn:
            forget_placements(self._store, name)
            self._nodes.remove(name)
        self._reconciler.wake()

    def beacon(self, name: str, *, rotate: bool) -> dict[str, Any]:
        """What belongs into a node's beacon.json, with a new key when asked for."""
        self._nodes.get(name)
        return self._beacon(name, rotate=rotate)

    def changed(self) -> None:
        """A node was added: plan for it now."""
        self._reconciler.wake()

    def _held(self, **changes: Any) -> dict[str, Any]:
        with self._store.write() as tx:
            after = site_resource(site.change_site(tx, **changes))
            outbox.append(tx, "site", after)
        self._reconciler.wake()
        return after


def _stands_on(one: Placement, node: str) -> bool:
    return one.node == node and one.state is not State.DELETED


def _try_again(tx: Transaction) -> None:
    """What only failed because the nodes were another's is as if it had not been tried."""
    for one in placements.newest(tx):
        if one.error and one.error.get("code") in NOT_OURS:
            transitions.note(
                tx, one, outcome=Outcome.PENDING, reason="the site was taken over", error=None,
                attempt=0, next_attempt_at=None, tried_release=None, heals=(),
            )  # fmt: skip


def _highest(tx: Transaction) -> int:
    return max(site.identity_of(tx).epoch, site.site_state(tx).known_epoch)
