"""The composition root: settings to parts, parts to the application that answers requests."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from flask import Blueprint, Flask

from controller import git_endpoint, measures, pages
from controller.access.limiter import Limiter
from controller.access.refusal_budget import RefusalBudget
from controller.access.uses import TokenUses
from controller.admission import Admission
from controller.api import ROUTES, guard, logged, meta, problems, routes, schemas, transport
from controller.api.openapi import PREFIX
from controller.catalog import Catalog
from controller.chores import Chores
from controller.edge.proxies import Forwarded
from controller.events.broker import Broker
from controller.events.log import StoredEvents
from controller.gate.git_command import BRANCH
from controller.parts import Parts
from controller.publish import Publisher, Repository, Sites
from controller.publish.shelving import shelve
from controller.reports.heartbeat import Heartbeats
from controller.reports.intake import Intake
from controller.store import Store, audit
from controller.store.audit import Deed
from margrave import durations
from webhook import Followed, Push, door, names_one_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.events.subscription import Message
    from controller.git_endpoint.arrival import Arrival
    from controller.settings import ControllerSettings

# Ten wrong passwords at once, then one every six seconds: people mistype, programs guess.
SIGN_INS: Final = (10, 6.0)
COMMANDS: Final = ("retry", "cancel", "release")


def utc_now() -> datetime:
    """The one clock that the parts are given."""
    return datetime.now(UTC)


def assemble(settings: ControllerSettings, clock: Callable[[], datetime] = utc_now) -> Parts:
    """Put the parts together; nothing runs yet."""
    store = Store(settings.database_url)
    repository = Repository(settings)
    publisher = Publisher(store, settings, clock, repository)
    broker = Broker(StoredEvents(store), settings.events.max_clients)
    store.on_events(broker.wake)
    broker.on_message(lambda message: _hint_commands(broker, message))
    broker.on_message(_RevisionHints(broker))
    period = timedelta(seconds=durations.seconds(settings.heartbeat.interval))
    return Parts(
        settings=settings,
        store=store,
        clock=clock,
        broker=broker,
        repository=repository,
        catalog=Catalog(store, settings, clock),
        admission=Admission(store, settings, clock, repository),
        publisher=publisher,
        sites=Sites(store, publisher.changes, clock),
        intake=Intake(store, clock, period),
        heartbeats=Heartbeats(store, clock, period),
        sign_ins=Limiter(*SIGN_INS, time.monotonic),
        token_uses=TokenUses(),
        refusals=RefusalBudget(time.monotonic),
    )


def create_app(parts: Parts, chores: Chores | None = None) -> Flask:
    """The application over its parts."""
    app = Flask(__name__, static_folder=None)
    app.extensions["margrave"] = parts
    app.json.sort_keys = False  # type: ignore[attr-defined]  # resources keep their order
    trusted = parts.settings.http.trusted_proxies
    if trusted:
        app.wsgi_app = Forwarded(app.wsgi_app, trusted)  # type: ignore[method-assign]
    transport.register(app)
    logged.register(app)
    problems.register(app, pages.told)
    app.register_blueprint(meta.blueprint(parts, ROUTES))
    app.register_blueprint(schemas.blueprint())
    app.register_blueprint(routes.blueprint("api", parts, ROUTES), url_prefix=PREFIX)
    app.register_blueprint(pages.blueprint(parts))
    app.register_blueprint(
        git_endpoint.blueprint(
            parts.settings.repository,
            lambda token: guard.by_token(parts, token),
            lambda came: _pushed(parts, came),
            lambda: shelve(parts.store, parts.settings.state.dir / "git" / "shelf"),
        )
    )
    app.register_blueprint(_webhook(parts, chores))
    return app


def _pushed(parts: Parts, came: Arrival) -> None:
    """Record what came of a push, and have main read soon.

    Nobody waits for that here: another controller may be pushing while it holds the turn to read.
    """
    parts.publisher.wake()
    deeds = came.deeds(parts.repository.reached)
    more: dict[str, object] = {"token": came.who.token} if came.who.token else {}
    if deeds and all(outcome == "refused" for outcome, _, _ in deeds):
        unwritten = parts.refusals.take(came.who.holder)
        if unwritten is None:
            return
        more |= {"not_written": unwritten} if unwritten else {}
    with parts.store.write() as session:
        for outcome, target, detail in deeds:
            told = (came.who.actor, "git.push", target, outcome, came.address, came.trace or None)
            audit.add(session, Deed(*told, {**detail, **more}), parts.clock())


class _RevisionHints:
    """Something else is wanted at a site: whichever controller read it from Git, ours hints."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._wanted: dict[str, object] = {}

    def __call__(self, message: Message) -> None:
        commit = message.data.get("wanted_commit")
        if message.event != "site" or message.site is None or commit is None:
            return
        if self._wanted.get(message.site) != commit:
            self._wanted[message.site] = commit
            self._broker.hint("revision", message.site, {"head": commit})


def _hint_commands(broker: Broker, message: Message) -> None:
    """A request for commands was published: its rows are there for the runners to fetch."""
    told = message.event == "request" and message.data.get("action") in COMMANDS
    if told and message.data.get("state") == "published":
        for site in {str(one["site"]) for one in message.data.get("deployments", ())}:
            broker.hint("command", site)


def _webhook(parts: Parts, chores: Chores | None) -> Blueprint:
    def look(push: Push) -> None:
        """One push may move several branches: each source of the repository is read."""
        places = parts.catalog.places()
        pushed = [name for name, url, _ in places if names_one_of([push.repository], [url])]
        if chores is not None:
            chores.look(pushed)

    def followed() -> list[Followed]:
        remote = parts.settings.git.remote
        own = [Followed(remote, BRANCH)] if remote else []
        return [*own, *(Followed(url, ref) for _, url, ref in parts.catalog.places())]

    count = measures.WEBHOOKS.add
    return door(parts.settings.hooks.secrets, followed, look, count=count)
