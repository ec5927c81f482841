"""The queue's door: what is asked becomes a plan, and, if nothing speaks against it, a request."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from controller.admission import acting, creating, draining, forecast
from controller.admission.bodies import (
    Act,
    Create,
    QueueFull,
    read_act,
    read_create,
    read_drain,
)
from controller.admission.decision import PLAINLY, Asked, Decision, lasting
from controller.admission.past import Past
from controller.admission.sizes import Sizes
from controller.publish.images import Images
from controller.publish.materials import Materials
from controller.store import commands, documents, operations, queue, requests
from controller.store.commands import Order
from controller.store.freshness import Moment
from controller.store.words import RANK, Action, CommandKind, RequestState
from margrave import digest, durations
from margrave.errors import Conflict, DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from controller.access.identity import Identity
    from controller.publish.repository import Repository
    from controller.settings import ControllerSettings
    from controller.store import Session, Store
    from margrave.findings import Finding

RETRY_AFTER = 10  # seconds: a queue that is full moves by some requests in that time
_COMMANDS = {
    Action.RETRY: CommandKind.RETRY,
    Action.CANCEL: CommandKind.CANCEL,
    Action.RELEASE: CommandKind.RELEASE,
}


class Admission:
    """Plans and accepts what operators ask for; accepting writes rows, never Git."""

    def __init__(
        self,
        store: Store,
        settings: ControllerSettings,
        clock: Callable[[], datetime],
        repository: Repository,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._repository = repository
        self._sizes = Sizes(Images(settings.registries))

    def plan(self, body: Mapping[str, Any], who: Identity) -> dict[str, Any]:
        """What would happen; what speaks against it stands in `findings`, nothing is written."""
        if body.get("action") == "drain":
            return self._drain(body, who)
        acts = "action" in body or "select" in body
        read, wrong = read_act(body) if acts else read_create(body)
        past = self._past(read, who)
        with self._store.session() as session:
            try:
                decision = self._decide(session, read, wrong, who, past)
            except (DocumentError, Conflict) as error:
                found = error.findings if isinstance(error, DocumentError) else None
                return creating.refused_plan(found, str(error))
        # Registries are asked outside of the transaction, and only by who looks before acting.
        self._sizes.ask(decision.sites)
        self._sizes.fill(decision.sites)
        warnings = tuple(self._sizes.warnings(decision.sites)) if decision.change else ()
        return replace(decision, findings=(*decision.findings, *warnings)).plan

    def _drain(self, body: Mapping[str, Any], who: Identity) -> dict[str, Any]:
        """What a drain would stop and move: looked at here, asked for at the node or the site."""
        read, wrong = read_drain(body)
        if wrong:
            return creating.refused_plan(wrong, "")
        with self._store.session() as session:
            try:
                sites = draining.decide(session, read, who, self._moment())
            except DocumentError as error:
                return creating.refused_plan(error.findings, str(error))
        parts = {"action": read.action, "sites": [lasting(one) for one in sites]}
        whole = digest.of_bytes(digest.canonical_json(parts))
        return {"hash": whole, "sites": list(sites), "duration": None, "findings": []}

    def create(
        self, body: Mapping[str, Any], who: Identity, asked: Asked = PLAINLY
    ) -> dict[str, Any]:
        """POST /deployments: the answer of 202."""
        return self._accept(body, *read_create(body), who, asked)

    def act(self, body: Mapping[str, Any], who: Identity, asked: Asked = PLAINLY) -> dict[str, Any]:
        """POST /deployments/actions, and the changes of one deployment: the answer of 202."""
        return self._accept(body, *read_act(body), who, asked)

    def _accept(
        self,
        body: Mapping[str, Any],
        read: Create | Act,
        wrong: list[Finding],
        who: Identity,
        asked: Asked,
    ) -> dict[str, Any]:
        past = self._past(read, who)
        # Tokens of one name are not one asker: neither has the other's answer.
        key = None if asked.key is None else _key_of(who, asked.key)
        with self._store.write() as session:
            if key is not None:
                known = requests.by_key(session, who.actor, key, self._clock())
                if known is not None:
                    return _again(known, body, asked.key)
            named = asked.documents if asked.look is None else asked.look(session)
            decision = self._decide(session, read, wrong, who, past)
            self._sizes.fill(decision.sites)
            if decision.errors:
                raise DocumentError(decision.errors)
            plan = decision.plan
            if read.plan_hash is not None:
                if read.plan_hash != plan["hash"]:
                    cure = "plan again and look at what changed"
                    raise Conflict("the plan no longer holds", cure)
                decision = decision.holding(decision.documents)
            if named is not None:
                decision = decision.holding(named)
            limit = self._settings.queue.limit
            if decision.change is not None and queue.waiting(session) >= limit:
                raise QueueFull(limit, RETRY_AFTER)
            request = str(uuid.uuid4())
            values = {
                "id": request,
                "action": decision.action,
                "actor": who.actor,
                "state": RequestState.QUEUED,
                "priority": read.urgency,
                "rank": RANK[read.urgency],
                "reason": read.reason,
                "body": dict(body),
                "change": asdict(decision.change) if decision.change else {},
                "plan": plan,
                "idempotency_key": key,
                "trace": asked.trace,
            }
            answer = self._enter(session, decision, values)
            if asked.note is not None:
                asked.note(session, request, decision.concerned)
            return answer

    def _enter(
        self, session: Session, decision: Decision, values: dict[str, Any]
    ) -> dict[str, Any]:
        """Write what was decided; commands are done with that."""
        now = self._clock()
        requests.add(session, values, decision.concerned, now)
        new = [creating.belonging_to(one, values["id"]) for one in decision.new]
        documents.accept(session, new, now)
        kind = _COMMANDS.get(decision.action)
        if kind is not None:
            for deployment, site in self._left(session, decision, now):
                data = {"deployment": deployment}
                actor, request, trace = values["actor"], values["id"], values["trace"]
                order = Order(site, kind, actor, data, request, trace)
                commands.add(session, order, now)
            requests.move(session, values["id"], RequestState.PUBLISHED, now)
        resource = requests.one(session, values["id"], now)
        assert resource is not None
        return _answer(resource)

    def _left(
        self, session: Session, decision: Decision, now: datetime
    ) -> Sequence[tuple[str, str]]:
        """What is for runners, once requests are taken back that are still in the queue."""
        gone: set[tuple[str, str]] = set()
        for request in decision.withdraws:
            if not requests.cancel(session, request, now):
                words = "its commit is just being pushed"
                raise Conflict(words, "try again in a moment: then its runner is told")
            gone |= requests.concerned_by(session, request)
        return [one for one in decision.concerned if one not in gone]

    def _past(self, read: Create | Act, who: Identity) -> Past:
        """What a rollback goes back to, read from Git before anything is locked."""
        if isinstance(read, Create):
            return Past(self._repository, self._store, None)
        past = Past(self._repository, self._store, read.to)
        if read.kind is Action.ROLLBACK:
            with self._store.session() as session, suppress(DocumentError):
                past.read(acting.selected(session, read, who))
        return past

    def _decide(
        self,
        session: Session,
        read: Create | Act,
        wrong: list[Finding],
        who: Identity,
        past: Past,
    ) -> Decision:
        """What it would do; what is wrong with its shape and its meaning is told together."""
        try:
            decision = self._meaning(session, read, who, past)
            _time(session, decision)
        except DocumentError as error:
            raise DocumentError([*wrong, *error.findings]) from error
        if wrong:
            raise DocumentError([*wrong, *decision.errors])
        return decision

    def _moment(self) -> Moment:
        period = timedelta(seconds=durations.seconds(self._settings.heartbeat.interval))
        return Moment(self._clock(), period)

    def _meaning(self, session: Session, read: Create | Act, who: Identity, past: Past) -> Decision:
        materials = Materials(self._store, images=None)
        moment = self._moment()
        if isinstance(read, Create):
            made = creating.decide(session, read, who, materials, moment)
            return Decision(
                Action.CREATE,
                read,
                made.change,
                made.concerned,
                made.sites,
                made.findings,
                made.new,
            )
        acted = acting.decide(session, read, who, materials, moment, past)
        return Decision(
            read.kind,
            read,
            acted.change,
            acted.concerned,
            acted.sites,
            acted.findings,
            documents=acted.documents,
            withdraws=acted.withdraws,
        )


def repeated(session: Session, who: Identity, key: str, now: datetime) -> bool:
    """Whether a request was accepted from the same holder under the same Idempotency-Key."""
    return requests.by_key(session, who.actor, _key_of(who, key), now) is not None


def _key_of(who: Identity, key: str) -> str:
    return f"{who.holder}: {key}"


def _again(known: Mapping[str, Any], body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """The answer that the same request had before."""
    if known["body"] != dict(body):
        raise Conflict(f'the Idempotency-Key "{key}" was used for another request', "use a new key")
    return _answer(known["resource"])


def _answer(resource: Mapping[str, Any]) -> dict[str, Any]:
    """What 202 tells of a request."""
    names: Sequence[str] = ("id", "deployments", "position", "eta", "plan")
    return {name: resource[name] for name in names}


def _time(session: Session, decision: Decision) -> None:
    """How long each site takes, by what the same applications took before."""
    kinds = {node["action"] for site in decision.sites for node in site["nodes"]}
    if kinds <= {"none"}:
        return
    ids = [one for one, _ in decision.concerned]
    app = getattr(decision.change, "app", "") or None
    typical = operations.typical(session, app, ids[:1])
    for site in decision.sites:
        site["duration"] = forecast.lasts(site, typical)
