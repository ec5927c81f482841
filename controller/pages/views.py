"""All pages as one table, with signing in and out and the stream that keeps them fresh."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from flask import Blueprint, Response, render_template, request

from controller.api import events
from controller.api.problems import Problem, of_error
from controller.pages import (
    acting,
    activity,
    catalogue,
    deploying,
    deployments,
    frame,
    many,
    oidc,
    overview,
    places,
    repository,
    settings,
)
from controller.pages import session as signing
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask
    from flask.sansio.app import App
    from werkzeug.wrappers import Response as Answer

    from controller.parts import Parts

READ: Final = ("GET",)
FORM: Final = ("GET", "POST")
ACT: Final = ("POST",)
FIRST: Final = ("base.html", "parts.html", "tables.html", "overview.html")
_SITE: Final = "/sites/<site>"

PAGES: Final[tuple[tuple[str, tuple[str, ...], Callable[..., Any]], ...]] = (
    ("/", READ, overview.shown),
    ("/deployments", READ, deployments.listed),
    ("/deployments/<deployment>", READ, deployments.shown),
    ("/deployments/<deployment>/compare", READ, deployments.compared),
    ("/deployments/<deployment>/history", READ, deployments.history),
    ("/deployments/<deployment>/placements", READ, deployments.placements),
    ("/deployments/<deployment>/act/<verb>", FORM, acting.one),
    ("/deployments/act/<verb>", FORM, many.act),
    ("/deploy", FORM, deploying.form),
    ("/apps", READ, catalogue.listed),
    ("/apps/<app>", READ, catalogue.shown),
    ("/sources", FORM, catalogue.sources),
    ("/sources/<source>/<verb>", ACT, catalogue.source_act),
    ("/sites", FORM, places.listed),
    (_SITE, READ, places.shown),
    (f"{_SITE}/<verb>", ACT, places.act),
    (f"{_SITE}/nodes/<node>", READ, places.node),
    (f"{_SITE}/nodes/<node>/<verb>", ACT, places.node_act),
    ("/nodes", READ, places.nodes),
    ("/activity", READ, activity.listed),
    ("/repository", FORM, repository.shown),
    ("/requests", READ, activity.requests),
    ("/requests/<request_id>", FORM, activity.request_shown),
    ("/operations/<operation>", READ, activity.operation),
    ("/operations/<operation>/log", READ, activity.log),
    ("/settings", FORM, settings.shown),
    ("/settings/<what>/<name>/<verb>", ACT, settings.act),
)


def blueprint(parts: Parts) -> Blueprint:
    """All pages, what they are styled with, and their stream."""
    made = Blueprint("pages", __name__, template_folder="templates", static_folder="static")
    made.record_once(lambda state: _lean(state.app))
    made.add_url_rule("/sign-in", "sign_in", partial(_sign_in, parts))
    made.add_url_rule("/sign-in", "signed_in", partial(_signed_in, parts), methods=["POST"])
    made.add_url_rule("/sign-out", "sign_out", partial(signing.sign_out, parts), methods=["POST"])
    made.add_url_rule(oidc.PATH, "oidc", partial(_elsewhere, parts, oidc.begin))
    made.add_url_rule(oidc.BACK, "oidc_back", partial(_elsewhere, parts, oidc.end))
    made.add_url_rule("/live", "live", partial(_live, parts))
    for path, methods, view in PAGES:
        name = f"{view.__module__.rpartition('.')[2]}_{view.__name__}"
        made.add_url_rule(path, name, partial(frame.show, parts, view), methods=list(methods))
    return made


def compiled(app: Flask) -> Flask:
    """The application, with what every page and the first one are made of compiled beforehand: who
    comes first waits no longer than who comes after."""
    for name in FIRST:
        app.jinja_env.get_template(name)
    return app


def _lean(app: App) -> None:
    """Lines that only steer a template leave nothing in a page: it is a tenth smaller."""
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True


def _live(parts: Parts) -> Response:
    who = signing.who(parts)
    if who is None:
        raise Problem(401, "not signed in", cure="sign in")
    return events.respond(parts, who)


def _sign_in(parts: Parts, problem: Problem | None = None) -> Response:
    token = signing.form_token()
    target = signing.inner(request.values.get("next", ""))
    text = render_template(
        "sign_in.html",
        token=token,
        next=target,
        problem=problem,
        oidc=oidc.PATH if parts.settings.oidc.issuer else None,
    )
    status = problem.status if problem else 200
    response = Response(text, status=status, content_type=frame.HTML)
    response.headers.update(problem.headers if problem else {})
    signing.set_cookie(parts, response, signing.FORM_COOKIE, token, 3600)
    return response


def _signed_in(parts: Parts) -> Response | Answer:
    try:
        return signing.sign_in(parts)
    except Problem as problem:
        return _sign_in(parts, problem)


def _elsewhere(parts: Parts, step: Callable[[Parts], Answer]) -> Response | Answer:
    """A step of signing in at a provider; what goes wrong is told where one can sign in again."""
    try:
        return step(parts)
    except Problem as problem:
        return _sign_in(parts, problem)
    except MargraveError as error:
        return _sign_in(parts, of_error(error))
