"""A batch of reports in memory: what it touches is read at once, changed here, written at once.

A runner that was away for a day brings thousands of events about a few hundred placements. One by
one each would cost half a dozen statements; here all of them share as many.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import select

from controller import measures
from controller.store import bulk, deployments, events, operations, placements, totals
from controller.store.aggregate import Stand, settle_known
from controller.store.freshness import freshness
from controller.store.models import Deployment, History, Node, Operation, Placement, Site
from controller.store.totals import Counted
from controller.store.words import ENDED, EventKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.deployments import Key
    from controller.store.freshness import Moment

CHUNK: Final = 500  # names in one IN (…): databases take a few ten thousand
T = TypeVar("T")
Row = SimpleNamespace  # a row by column names

# What a report has to know of what stands; it tells all the rest anew.
_STANDING: Final = (
    Placement.deployment,
    Placement.node,
    Placement.incarnation,
    Placement.state,
    Placement.outcome,
    Placement.revision,
)
_OPERATING: Final = (
    Operation.id,
    Operation.site,
    Operation.kind,
    Operation.state,
    Deployment.id.label("uuid"),
)
_PLACEMENT_KEY: Final = ("deployment", "node", "incarnation")
_OPERATION_KEY: Final = ("id",)


class Page:
    """What a batch of one site's reports touches."""

    def __init__(self, session: Session, site: str, moment: Moment) -> None:
        self.session = session
        self._site = site
        self._moment = moment
        self._events: list[dict[str, Any]] = []
        self._history: list[dict[str, Any]] = []
        self._logs: list[tuple[str, list[str], datetime]] = []
        self.forget()

    def forget(self) -> None:
        """Something was undone: read again what is asked for, and drop what was to be written."""
        self._keys: dict[str, Key | None] = {}
        self._placed: dict[tuple[int, str], Row] = {}
        self._operations: dict[str, Row | None] = {}
        self._fresh: dict[str, str] | None = None
        self._clean()

    def look_again(self) -> None:
        """Nodes have changed: how fresh each is has to be judged anew."""
        self._fresh = None

    def read(self, ids: Iterable[str], operation_ids: Iterable[str]) -> None:
        """Read what these deployments and operations are, all at once."""
        for some in _chunks(set(ids) - self._keys.keys()):
            found = deployments.find_all(self.session, some, self._site)
            self._keys.update((one, found.get(one)) for one in some)
            for row in self._rows([key.key for key in found.values()]):
                old = self._placed.get((row.deployment, row.node))
                if old is None or old.incarnation < row.incarnation:
                    self._placed[row.deployment, row.node] = row
        for some in _chunks(set(operation_ids) - self._operations.keys()):
            self._operations.update(dict.fromkeys(some))
            query = select(*_OPERATING).join(Deployment, Deployment.key == Operation.deployment)
            for one in self.session.execute(query.where(Operation.id.in_(some))):
                self._operations[one.id] = Row(**one._mapping)

    def key(self, deployment_id: str) -> Key | None:
        """The deployment of that id at this site, or None."""
        if deployment_id not in self._keys:
            self.read([deployment_id], ())
        return self._keys[deployment_id]

    def adopt(self, deployment_id: str, name: str, app: str) -> Key:
        """A deployment that only the runner knows."""
        now = self._moment.now
        key = deployments.adopt(self.session, deployment_id, self._site, name, app, now)
        self._keys[deployment_id] = key
        return key

    def standing(self, key: Key, node: str) -> Row | None:
        """The newest incarnation on a node."""
        self.key(key.id)
        return self._placed.get((key.key, node))

    def place(self, key: Key, node: str, incarnation: int, values: Mapping[str, Any]) -> None:
        """Write an incarnation's present state, which becomes the newest one.

        `values` are all of its columns but the key.
        """
        row = Row(deployment=key.key, node=node, incarnation=incarnation, **values)
        self._placed[key.key, node] = row
        self._placements[key.key, node, incarnation] = vars(row)

    def placement(self, key: Key, node: str) -> dict[str, Any]:
        """The resource of a placement as it now stands."""
        row = self._placed[key.key, node]
        return placements.shape(row, key.id, self._site, self._node(node))

    def settle(self, keys: Collection[int]) -> dict[int, dict[str, Any]]:
        """Bring deployments in line with their placements; the resources of those that changed."""
        stands: dict[int, list[Stand]] = {key: [] for key in keys}
        own: dict[int, list[dict[str, Any]]] = {key: [] for key in keys}
        for (key, node), row in self._placed.items():
            if key in stands:
                stands[key].append(Stand(row.state, row.outcome))
                own[key].append({"state": row.state, "freshness": self._node(node)})
        seen = self.session.scalar(select(Site.last_seen).where(Site.name == self._site))
        site = self._moment.site(seen)
        found = {}
        for some in _chunks(keys):
            changed = settle_known(self.session, some, stands, self._moment.now)
            for one in deployments.rows(self.session, changed):
                found[one.key] = deployments.shape(one, own[one.key], site)
        return found

    def operation(self, operation_id: str) -> Row | None:
        """An operation, whichever site's it is; `uuid` is its deployment's id."""
        if operation_id not in self._operations:
            self.read((), [operation_id])
        return self._operations[operation_id]

    def operate(self, operation_id: str, key: Key, values: Mapping[str, Any]) -> dict[str, Any]:
        """Write an operation's present state, all of its columns; its resource."""
        more = {"id": operation_id, "site": self._site, "deployment": key.key}
        values = {**values, **more}
        before, row = self.operation(operation_id), Row(**values, uuid=key.id)
        if row.state in ENDED and (before is None or before.state not in ENDED):
            self._totals[Counted.OPERATION, operations.label(row)] += 1
            if row.started_at and row.ended_at:
                self._took.append((row.kind.value, (row.ended_at - row.started_at).total_seconds()))
        self._operations[operation_id] = row
        self._operated[operation_id] = values
        return operations.shape(row, key.id)

    def log(self, operation_id: str, lines: list[str], at: datetime, deployment: str) -> None:
        """Append lines to an operation's log, and an event that tells where they are."""
        self._logs.append((operation_id, lines, at))
        self.tell(EventKind.LOG, {"operation": operation_id}, deployment)

    def transition(self, key: Key, row: Mapping[str, Any]) -> None:
        """Append to the history; `row` by column names."""
        self._history.append({"deployment": key.key, **row})
        self._totals[Counted.TRANSITION, str(row["to_state"])] += 1
        if row["irregular"]:
            self._totals[Counted.IRREGULAR, ""] += 1

    def tell(self, kind: EventKind, data: Mapping[str, Any], deployment: str | None = None) -> None:
        """Append an event."""
        self._events.append(events.row(kind, data, self._site, deployment, self._moment.now))

    def write(self) -> None:
        """Write everything, in a few statements."""
        bulk.put(self.session, Placement, list(self._placements.values()), _PLACEMENT_KEY)
        bulk.put(self.session, Operation, list(self._operated.values()), _OPERATION_KEY)
        if self._logs:
            chunks = operations.add_logs(self.session, self._logs)
            told = (one for one in self._events if one["event"] is EventKind.LOG)
            for event, chunk in zip(told, chunks, strict=True):
                event["data"]["chunk"] = chunk
        bulk.append(self.session, History, self._history)
        events.append_all(self.session, self._events)
        totals.add(self.session, self._totals)
        for kind, seconds in self._took:
            measures.OPERATIONS.add((kind,), max(0.0, seconds))
        self._clean()

    def _clean(self) -> None:
        self._placements: dict[tuple[int, str, int], dict[str, Any]] = {}
        self._operated: dict[str, dict[str, Any]] = {}
        self._totals: Counter[tuple[Counted, str]] = Counter()
        self._took: list[tuple[str, float]] = []  # operations that ended: kind and seconds
        self._events = []
        self._history = []
        self._logs = []

    def _rows(self, keys: Iterable[int]) -> Iterator[Row]:
        for some in _chunks(keys):
            found = self.session.execute(select(*_STANDING).where(Placement.deployment.in_(some)))
            names = tuple(found.keys())
            yield from (Row(**dict(zip(names, one, strict=True))) for one in found)

    def _node(self, name: str) -> str:
        if self._fresh is None:
            query = (
                select(Node.name, Node.status, Site.last_seen)
                .join(Site, Site.name == Node.site)
                .where(Node.site == self._site)
            )
            self._fresh = {
                one: freshness(self._moment.node(status, seen)).value
                for one, status, seen in self.session.execute(query)
            }
        if name not in self._fresh:  # no runner told of it
            self._fresh[name] = freshness(self._moment.node(None, None)).value
        return self._fresh[name]


def _chunks(names: Iterable[T]) -> Iterator[list[T]]:
    known = list(names)
    for begin in range(0, len(known), CHUNK):
        yield known[begin : begin + CHUNK]
