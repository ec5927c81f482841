"""Everything as it stands: what a line of reports begins with."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from margrave.lifecycle import Actor, State
from runner.outbox.bodies import EVENT_BYTES, length
from runner.store import Placement, Transaction, desired, nodes, outbox, placements, site
from runner.store.resources import node_resource, placement_resource, site_resource


def append_snapshot(tx: Transaction) -> None:
    """Everything as it stands: one event, and one more for each placement beyond what fits."""
    told = [placement_resource(one) for one in _told(tx, placements.newest(tx))]
    whole = sum(size <= EVENT_BYTES // 2 for size in accumulate(map(length, told)))
    data = {
        "placements": told[:whole],
        "nodes": [node_resource(one) for one in nodes.all_nodes(tx)],
        "site": site_resource(site.site_state(tx)),
    }
    outbox.append(tx, "snapshot", data)
    for one in told[whole:]:
        still: dict[str, Any] = {"from": None, "to": None, "actor": Actor.RUNNER}
        outbox.append(tx, "placement", one | still)


def _told(tx: Transaction, known: Iterable[Placement]) -> list[Placement]:
    """Those that still count, first the ones that Git has no more.

    What was taken off because Git does not want it says nothing by being left out: whoever reads
    the snapshot ends it. Such placements gather over the years, and would fill it. The others that
    Git does not want have to be in the snapshot itself, or they would be ended with them.
    """
    wanted = _wanted(tx)
    counting = [one for one in known if one.state is not State.DELETED or one.deployment in wanted]
    return sorted(counting, key=lambda one: one.deployment in wanted)


def _wanted(tx: Transaction) -> frozenset[str]:
    """The deployments that Git had when it was read last: a document's file is named by its id."""
    kept = desired.load(tx)
    paths = kept.documents if kept else ()
    return frozenset(path.rpartition("/")[2].removesuffix(".yaml") for path in paths)
