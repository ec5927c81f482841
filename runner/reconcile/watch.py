"""The newest verified state of Git, always at hand: a slow remote holds no tick.

What was verified last is in the store too, so that a site without Git goes on after a restart.
"""

from __future__ import annotations

import threading
from base64 import b64decode, b64encode

from margrave.errors import MargraveError
from margrave.lifecycle import Kind
from runner.reconcile.outcomes import Done, Outcome, Stalled, Waiting
from runner.source import Desired, Halted, Source
from runner.store import Store, Transaction, desired, operations, outbox, site
from runner.store.resources import moment, site_resource
from runner.store.values import Snapshot


class Watch:
    """The newest verified state, and the way to a newer one.

    Git is asked on a thread of its own. What it finds there becomes what is desired when the next
    tick takes it up: a tick plans, begins and makes its calls from one and the same state.
    """

    def __init__(self, store: Store, source: Source) -> None:
        self._store = store
        self._source = source
        self._looking = threading.Lock()
        self.last: Outcome = Waiting("Git was not asked yet")
        self._desired: Desired | None = None
        self._newest = self._restore()
        self.take_up()

    def newest(self) -> Desired | None:
        """What was verified last; the next tick takes it up."""
        return self._newest

    def desired(self) -> Desired | None:
        """What the site should run, as far as it is known and was taken up."""
        return self._desired

    def take_up(self) -> Desired | None:
        """Go on with the newest state; what is desired from now on.

        None while nothing is known, or not all of it can be read: then nothing may be begun.
        """
        if self._newest is not None and not self._newest.unread:
            self._desired = self._newest
        return self._desired

    def look(self, *, hinted: bool) -> Outcome:
        """Ask Git: after a hint by a fetch at once, else only whether one is worth it."""
        with self._looking:
            self.last = self._look(hinted=hinted)
            return self.last

    def tidy(self) -> None:
        """Pack the clone; nothing is fetched meanwhile."""
        with self._looking:
            self._source.tidy()

    def _look(self, *, hinted: bool) -> Outcome:
        known = self._newest
        with self._store.read() as tx:
            held = site.site_state(tx)
        try:
            worth_asking = known is not None and not held.halted and not hinted
            if worth_asking and known and not self._source.has_moved(known.commit):
                return Done()
            newest = self._source.fetch(known, held.accepted_commit)
        except Halted as error:
            return self._halt(error)
        except MargraveError as error:
            return Waiting(str(error))
        self._take(newest, known)
        return Done()

    def _take(self, newest: Desired, known: Desired | None) -> None:
        secrets = {path: b64encode(one).decode() for path, one in newest.secrets.items()}
        snapshot = Snapshot(newest.commit, newest.tree, newest.texts, newest.site_text, secrets)
        with self._store.write() as tx:
            before = site.site_state(tx)
            desired.save(tx, snapshot)
            after = site.change_site(
                tx, halted=None, accepted_commit=None, applied_commit=newest.commit
            )
            same_tree = known is not None and known.tree == newest.tree
            # A commit that is none of this site's business travels with the heartbeat alone.
            if not same_tree or before.halted:
                outbox.append(tx, "site", site_resource(after))
            in_use = _components_in_use(tx)
        self._newest = newest
        if not same_tree:
            self._source.keep_components(in_use, newest, known, self._desired)

    def _halt(self, error: Halted) -> Outcome:
        with self._store.write() as tx:
            before = site.site_state(tx).halted or {}
            if before.get("commit") != error.commit or before.get("reason") != str(error):
                halted = {"reason": str(error), "commit": error.commit, "since": moment(tx.now)}
                outbox.append(tx, "site", site_resource(site.change_site(tx, halted=halted)))
        return Stalled(str(error))

    def _restore(self) -> Desired | None:
        with self._store.read() as tx:
            kept = desired.load(tx)
        if kept is None:
            return None
        texts = dict(kept.documents)
        secrets = {path: b64decode(one) for path, one in kept.secrets.items()}
        found = self._source.restore(kept.commit, kept.tree, texts, kept.site_document, secrets)
        if found.unread:
            self.last = self._halt(found.unread)
        return found


def _components_in_use(tx: Transaction) -> frozenset[str]:
    """The component folders that unfinished calls still name."""
    return frozenset(
        component["digest"].removeprefix("sha256:")
        for one in operations.unfinished(tx)
        if one.kind in (Kind.INSTALL, Kind.UPDATE)
        for component in one.arguments.get("components", [])
    )
