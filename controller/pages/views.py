"""The pages: each reads what the API tells, and is whole without a script."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from flask import Blueprint, Response, g, redirect, render_template, request

from controller.api import deployments as reading
from controller.api import events, explain, paging
from controller.api.call import Call
from controller.api.problems import Problem, answer, not_found, of_error
from controller.pages import session as signing
from controller.pages import words
from controller.store import apps, deployments, fleet, history, operations, placements
from margrave.errors import MargraveError
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.wrappers import Response as Answer

    from controller.access.identity import Identity
    from controller.parts import Parts

A_PAGE: Final = "25"
RECENT: Final = 4  # transitions shown with each deployment of the list
MANY: Final = 500


def blueprint(parts: Parts) -> Blueprint:
    """All pages, what they are styled with, and their stream."""
    made = Blueprint("pages", __name__, template_folder="templates", static_folder="static")
    made.add_url_rule("/sign-in", view_func=partial(_sign_in, parts), endpoint="sign_in")
    made.add_url_rule(
        "/sign-in", view_func=partial(_signed_in, parts), endpoint="signed_in", methods=["POST"]
    )
    made.add_url_rule(
        "/sign-out",
        view_func=partial(signing.sign_out, parts),
        endpoint="sign_out",
        methods=["POST"],
    )
    made.add_url_rule("/live", view_func=partial(_live, parts), endpoint="live")
    for path, view in PAGES:
        made.add_url_rule(path, endpoint=view.__name__, view_func=partial(_page, parts, view))
    made.register_error_handler(Problem, _problem)
    made.register_error_handler(MargraveError, lambda error: _problem(of_error(error)))
    return made


def overview(call: Call) -> str:
    """What is deployed where, how it fares, and what happened last."""
    args = {name: value for name, value in request.args.items() if value}
    page = paging.read({"limit": A_PAGE, **args})
    wanted = deployments.Wanted(
        site=args.get("site"),
        app=args.get("app"),
        state=_member(State, args.get("state")),
        outcome=_member(Outcome, args.get("outcome")),
        q=args.get("q"),
        sites=call.who.sites,
    )
    moment = call.parts.moment()
    with call.parts.store.session() as session:
        after = paging.number(page)
        rows = deployments.overview(session, wanted, moment, after=after, limit=page.fetch)
        shown = rows[: page.limit]
        recent = history.newest(session, [one.key for one in shown], RECENT)
        counted = deployments.by_state(session)
        sites = fleet.sites(session, moment, after=None, limit=MANY, only=call.who.sites)
    older = paging.cursor((shown[-1].key,)) if len(rows) > page.limit else None
    return _render(
        call,
        "overview.html",
        shown=shown,
        recent=recent,
        sites=[site for _, site in sites],
        summary=_summary(counted, call.who),
        args=args,
        older=older,
        states=[state.value for state in State],
        outcomes=[one.value for one in Outcome],
    )


def deployment(call: Call, deployment_id: str) -> str:
    """One deployment: where it stands, why, and its whole history."""
    moment = call.parts.moment()
    with call.parts.store.session() as session:
        key = reading.find(call, session, deployment_id)
        one = deployments.resource(session, key.key, moment)
        placed = placements.of_deployments(session, [key.key], moment).get(key.key, [])
        told = history.newest(session, [key.key], MANY).get(key.key, [])
        wanted = operations.Wanted(deployment=key.id)
        ran = operations.listing(session, wanted, after=None, limit=20)
        manifest = deployments.manifest(session, key.key)
    return _render(
        call,
        "deployment.html",
        one=one,
        placements=placed,
        history=told,
        operations=[operation for _, operation in ran],
        manifest=manifest,
        why=explain.explained(call, key.id),
    )


def sites(call: Call) -> str:
    """Sites and their nodes."""
    moment = call.parts.moment()
    only = call.who.sites
    with call.parts.store.session() as session:
        found = fleet.sites(session, moment, after=None, limit=MANY, only=only)
        nodes = fleet.nodes(session, moment, limit=MANY, only=only)
    return _render(
        call,
        "sites.html",
        sites=[site for _, site in found],
        nodes=[node for _, node in nodes],
    )


def applications(call: Call) -> str:
    """What can be deployed."""
    with call.parts.store.session() as session:
        found = apps.listed(session, q=request.args.get("q", ""), after="", limit=MANY)
    return _render(call, "apps.html", apps=[app for _, app in found])


def application(call: Call, app: str) -> str:
    """One application."""
    with call.parts.store.session() as session:
        found = apps.one(session, app)
    if found is None:
        raise not_found("application", app)
    return _render(call, "app.html", app=found)


PAGES: Final[tuple[tuple[str, Callable[..., str]], ...]] = (
    ("/", overview),
    ("/deployments/<deployment_id>", deployment),
    ("/sites", sites),
    ("/apps", applications),
    ("/apps/<app>", application),
)


def _page(parts: Parts, view: Callable[..., str], **path: str) -> Response | Answer:
    who = signing.who(parts)
    if who is None:
        return redirect(f"/sign-in?next={request.path}", 303)
    # Read before the page is: the stream resumes behind it, so nothing in between is missed.
    g.newest = parts.broker.newest()
    response = Response(view(Call(parts, who), **path), content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def _live(parts: Parts) -> Response:
    who = signing.who(parts)
    if who is None:
        raise Problem(401, "not signed in", cure="sign in")
    return events.respond(parts, who)


def _sign_in(parts: Parts, problem: Problem | None = None) -> Response:
    token = signing.form_token()
    target = signing.inner(request.values.get("next", ""))
    text = render_template("sign_in.html", token=token, next=target, problem=problem, call=None)
    status = problem.status if problem else 200
    response = Response(text, status=status, content_type="text/html; charset=utf-8")
    response.headers.update(problem.headers if problem else {})
    signing.set_cookie(parts, response, signing.FORM_COOKIE, token, 3600)
    return response


def _signed_in(parts: Parts) -> Response | Answer:
    try:
        return signing.sign_in(parts)
    except Problem as problem:
        return _sign_in(parts, problem)


def _problem(problem: Problem) -> Response:
    """A browser gets a page, everything else problem details."""
    best = request.accept_mimetypes.best_match(["application/problem+json", "text/html"])
    if best != "text/html" or request.path == "/live":
        return answer(problem)
    text = render_template("problem.html", problem=problem, call=None)
    return Response(text, problem.status, problem.headers, content_type="text/html; charset=utf-8")


def _render(call: Call, template: str, **values: Any) -> str:
    now = call.parts.clock()
    return render_template(
        template,
        call=call,
        csrf=g.get("csrf", ""),
        newest=g.newest,
        state=words.state,
        outcome=words.outcome,
        status=words.status,
        short=words.short,
        pairs=words.pairs,
        size=words.size,
        clock=lambda text: words.clock(text, now),
        ago=lambda text: words.ago(text, now),
        **values,
    )


def _summary(counted: dict[tuple[str, str, str], int], who: Identity) -> dict[str, int]:
    found = {"deployments": 0, "moving": 0, "trouble": 0, "succeeded": 0}
    for (site, state, outcome), number in counted.items():
        if not who.sees(site):
            continue
        found["deployments"] += number
        found["succeeded"] += number if (state, outcome) == ("INSTALLED", "succeeded") else 0
        found["trouble"] += (
            number if outcome in ("failed", "rollback-failed", "rolled-back", "held") else 0
        )
        found["moving"] += number if outcome == "pending" else 0
    return found


def _member(kind: Any, text: str | None) -> Any:
    return kind(text) if text in tuple(kind) else None
