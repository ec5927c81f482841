"""Settings for admins: people, tokens, and what this controller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard
from controller.api.problems import Problem, not_found
from controller.pages.acting import said
from controller.pages.asking import ask, page_of
from controller.pages.frame import HTML, doubt, go, render
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

# What is asked again first: the question, what it means, the button.
SURE: Final = {
    "revoke": ("Revoke this token?", "Whoever has it is refused from now on.", "Revoke"),
    "remove": (
        "Remove {}?",
        "They cannot sign in any more; what they did stays on record.",
        "Remove",
    ),
}
ROLES: Final = ("viewer", "operator", "admin")
_SHOWN_AT: Final = {"users": "people", "tokens": "tokens"}
SHOWS: Final = ("people", "tokens", "controller")
PEOPLE: Final = 20
TOKENS: Final = 40


def shown(call: Call) -> str | Response | Answer:
    """GET /settings, one subject at a time; POST adds a person or a token, shown this once."""
    guard.require(call.who, Role.ADMIN)
    findings: Any = []
    made = None
    what = request.form.get("what", "")
    if request.method == "POST":
        try:
            made = ask(call, "POST", f"/{_known(what)}", _new(what))
            if what == "users":
                return go(_at("users"), "user-added")
        except (Problem, MargraveError) as error:
            findings = said(error)
    show = _SHOWN_AT.get(what) or request.args.get("show", "")
    show = show if show in SHOWS else SHOWS[0]
    text = render(
        "settings.html",
        "none",
        show=show,
        shows=SHOWS,
        roles=ROLES,
        made=made,
        findings=findings,
        form=request.form,
        me=call.who.name,
        **_told(call, show),
    )
    return Response(text, 422 if findings else 200, content_type=HTML)


def _told(call: Call, show: str) -> dict[str, Any]:
    """What the subject's part of the page is made of."""
    if show == "people":
        found = page_of(call, "/users", PEOPLE)
        return {"users": found["items"], "more": found["next"]}
    if show == "tokens":
        found = page_of(call, "/tokens", TOKENS)
        return {"tokens": found["items"], "more": found["next"]}
    return {
        "keys": ask(call, "GET", "/meta/keys"),
        "configured": ask(call, "GET", "/meta/settings")["items"],
        "about": ask(call, "GET", "/meta/capabilities"),
    }


def _at(what: str) -> str:
    """The page on which people or tokens stand."""
    return "/settings?show=tokens" if what == "tokens" else "/settings"


def act(call: Call, what: str, name: str, verb: str) -> str | Answer:
    """POST /settings/users/{name}/(change|remove), /settings/tokens/{id}/revoke."""
    if verb in SURE:
        question, means, word = SURE[verb]
        if page := doubt(question.format(name), means, word, _at(what)):
            return page
    if (what, verb) == ("tokens", "revoke"):
        ask(call, "DELETE", "/tokens/<token>", token=name)
        return go(_at(what), "token-revoked")
    if (what, verb) == ("users", "remove"):
        ask(call, "DELETE", "/users/<user>", user=name)
        return go(_at(what), "user-removed")
    if (what, verb) == ("users", "change"):
        ask(call, "PATCH", "/users/<user>", _change(), user=name)
        return go(_at(what), "user-changed")
    raise not_found("action", verb)


def _known(what: str) -> str:
    if what not in ("users", "tokens"):
        raise not_found("setting", what)
    return what


def _new(what: str) -> dict[str, Any]:
    form = request.form
    body: dict[str, Any] = {"name": form.get("name", "").strip(), "role": form.get("role", "")}
    if what == "users":
        body["password"] = form.get("password", "")
    if sites := form.get("sites", "").replace(",", " ").split():
        body["sites"] = _chosen(sites)
    if what == "tokens" and form.get("expires_at"):
        body["expires_at"] = f"{form['expires_at']}T23:59:59Z"
    return body


def _chosen(words: list[str]) -> list[str] | dict[str, Any]:
    """Sites by name, or by label where labels are written; a name among labels is a finding."""
    pairs = [word.partition("=") for word in words]
    if not any(equals for _, equals, _ in pairs):
        return words
    return {"matchLabels": {key: value for key, _, value in pairs}}


def _change() -> dict[str, Any]:
    form = request.form
    body: dict[str, Any] = {}
    if form.get("role"):
        body["role"] = form["role"]
    if form.get("password"):
        body["password"] = form["password"]
    # What was not touched is not said again: limits by expression have no words for a field.
    if form.get("sites", "").split() != form.get("sites_were", "").split():
        sites = form.get("sites", "").replace(",", " ").split()
        body["sites"] = _chosen(sites) if sites else None
    if "disabled" in form:
        body["disabled"] = form["disabled"] == "yes"
    return body
