"""Settings for admins: people, tokens, and what this controller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard
from controller.api.problems import Problem, not_found
from controller.pages.acting import said
from controller.pages.asking import ask
from controller.pages.asking import listed as all_of
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


def shown(call: Call) -> str | Response | Answer:
    """GET /settings; POST adds a person or a token, which is shown this once."""
    guard.require(call.who, Role.ADMIN)
    findings: Any = []
    made = None
    what = request.form.get("what", "")
    if request.method == "POST":
        try:
            made = ask(call, "POST", f"/{_known(what)}", _new(what))
            if what == "users":
                return go("/settings", "user-added")
        except (Problem, MargraveError) as error:
            findings = said(error)
    text = render(
        "settings.html",
        "none",
        users=all_of(call, "/users"),
        tokens=all_of(call, "/tokens"),
        keys=ask(call, "GET", "/meta/keys"),
        configured=ask(call, "GET", "/meta/settings")["items"],
        about=ask(call, "GET", "/meta/capabilities"),
        roles=ROLES,
        made=made,
        what=what,
        findings=findings,
        form=request.form,
        me=call.who.name,
    )
    return Response(text, 422 if findings else 200, content_type=HTML)


def act(call: Call, what: str, name: str, verb: str) -> str | Answer:
    """POST /settings/users/{name}/(change|remove), /settings/tokens/{id}/revoke."""
    if verb in SURE:
        question, means, word = SURE[verb]
        if page := doubt(question.format(name), means, word, "/settings"):
            return page
    if (what, verb) == ("tokens", "revoke"):
        ask(call, "DELETE", "/tokens/<token>", token=name)
        return go("/settings", "token-revoked")
    if (what, verb) == ("users", "remove"):
        ask(call, "DELETE", "/users/<user>", user=name)
        return go("/settings", "user-removed")
    if (what, verb) == ("users", "change"):
        ask(call, "PATCH", "/users/<user>", _change(), user=name)
        return go("/settings", "user-changed")
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
    if "disabled" in form:
        body["disabled"] = form["disabled"] == "yes"
    return body
