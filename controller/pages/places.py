"""Sites and their nodes: what they are, how they fare, and what is done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.api.problems import Problem, not_found
from controller.pages.acting import planned, said
from controller.pages.asking import ask, may, page_of, wanted
from controller.pages.frame import HTML, doubt, go, render, sure
from controller.store.freshness import NodeStatus
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

ROWS: Final = 40
NODES: Final = "20"  # of a site, on its page
NODE_ROWS: Final = 36
RUNNING: Final = "20"
OPERATIONS: Final = "12"
MOST_ON_NODE: Final = 25
MOST_STOPPED: Final = 20  # deployments that a drain stops or moves, told one by one
FILTERS: Final = ("q", "freshness", "held")
HELD: Final = ("any", "paused", "drained", "locked", "halted", "findings")
NODE_FILTERS: Final = ("q", "site", "status")
_SITE: Final = "/sites/<site>"
_NODE: Final = "/sites/<site>/nodes/<node>"
VERBS: Final = ("pause", "resume", "drain", "undrain", "reload", "accept")
NODE_VERBS: Final = ("drain", "undrain", "reload")
# What is asked again first: the question, what it means, the button.
SURE: Final = {
    "drain": (
        "Drain {}?",
        "Every deployment there stops until it is used again.",
        "Drain",
    ),
    "remove": (
        "Remove {}?",
        "Its document leaves Git; its runner is not heard any more.",
        "Remove",
    ),
}
NODE_SURE: Final = {
    "drain": ("Drain {}?", "What may move goes to other nodes; what may not is stopped.", "Drain"),
    "forget": ("Forget {}?", "Only when the machine is gone for good.", "Forget"),
}


def listed(call: Call) -> str | Response:
    """GET /sites, a page at a time; POST adds one and shows its token this once."""
    findings: Any = []
    made = None
    if request.method == "POST":
        try:
            made = ask(call, "POST", "/sites", _new())
        except (Problem, MargraveError) as error:
            findings = said(error)
    given = wanted(*FILTERS)
    found = page_of(call, "/sites", ROWS, given)
    text = render(
        "sites.html",
        "none" if made or findings else "all",
        sites=found["items"],
        more=found["next"],
        wanted=given,
        held=HELD,
        made=made,
        findings=findings,
        form=request.form,
        add=may(call, "POST", "/sites"),
    )
    return Response(text, 422 if findings else 200, content_type=HTML)


def nodes(call: Call) -> str:
    """GET /nodes: those of all sites, a page at a time."""
    given = wanted(*NODE_FILTERS)
    found = page_of(call, "/nodes", NODE_ROWS, given)
    return render(
        "nodes.html",
        nodes=found["items"],
        more=found["next"],
        wanted=given,
        statuses=(*(one.value for one in NodeStatus), "unusable,stale,offline"),
    )


def shown(call: Call, site: str, made: dict[str, Any] | None = None) -> str:
    """GET /sites/{site}; `made` is a new token of its runner, shown this once."""
    one = ask(call, "GET", _SITE, site=site)
    nodes = ask(call, "GET", f"{_SITE}/nodes", None, {"limit": NODES}, site=site)
    running = ask(call, "GET", "/deployments", None, {"site": site, "limit": RUNNING})
    tokens = []
    if may(call, "GET", f"{_SITE}/tokens"):
        tokens = ask(call, "GET", f"{_SITE}/tokens", site=site)["items"]
    return render(
        "site.html",
        "none" if made else f"site:{site}",
        made=made,
        site=one,
        heard=ask(call, "GET", f"{_SITE}/freshness", site=site),
        nodes=nodes["items"],
        more_nodes=nodes["next"],
        running=running["items"],
        more=running["next"],
        tokens=tokens,
    )


def act(call: Call, site: str, verb: str) -> str | Answer:
    """POST /sites/{site}/(pause|resume|drain|undrain|reload|accept|token|revoke|remove)."""
    if verb == "revoke":
        return _revoke(call, site)
    if verb == "token":
        return shown(call, site, ask(call, "POST", f"{_SITE}/tokens", site=site))
    if verb in SURE:
        question, what, word = SURE[verb]
        plan = _drain(call, verb, site=site)
        if page := doubt(question.format(site), what, word, f"/sites/{site}", **plan):
            return page
    if verb == "remove":
        ask(call, "DELETE", _SITE, site=site)
        return go("/sites", "site-removed")
    if verb not in VERBS:
        raise not_found("action", verb)
    body = {}
    if verb == "pause":
        body = {"reason": request.form.get("reason", "").strip()}
    if verb == "accept":
        body = {"commit": request.form.get("commit", "").strip()}
    ask(call, "POST", f"{_SITE}/{verb}", body, site=site)
    return go(f"/sites/{site}", verb)


def _revoke(call: Call, site: str) -> str | Answer:
    """Asked again first; the token's id comes along."""
    token = request.form.get("id", "")
    question = "Revoke this token of the runner?"
    means = "A runner that has no other one is not heard any more, and fetches nothing."
    if page := doubt(question, means, "Revoke", f"/sites/{site}", kept={"id": token}):
        return page
    ask(call, "DELETE", f"{_SITE}/tokens/<token>", site=site, token=token)
    return go(f"/sites/{site}", "token-revoked")


def node(call: Call, site: str, node: str) -> str:
    """GET /sites/{site}/nodes/{node}."""
    has = ask(call, "GET", f"{_NODE}/placements", site=site, node=node)["items"]
    ran = {"site": site, "node": node, "limit": OPERATIONS}
    return render(
        "node.html",
        f"site:{site}",
        has=has,
        most=MOST_ON_NODE,
        names={one["deployment"]: one["name"] for one in has},
        site=ask(call, "GET", _SITE, site=site),
        node=ask(call, "GET", _NODE, site=site, node=node),
        operations=ask(call, "GET", "/operations", None, ran)["items"],
    )


def node_act(call: Call, site: str, node: str, verb: str) -> str | Answer:
    """POST /sites/{site}/nodes/{node}/(drain|undrain|reload|forget)."""
    if verb in NODE_SURE:
        question, what, word = NODE_SURE[verb]
        plan, back = _drain(call, verb, site=site, node=node), f"/sites/{site}/nodes/{node}"
        if page := doubt(question.format(node), what, word, back, **plan):
            return page
    if verb == "forget":
        ask(call, "DELETE", _NODE, None, {"forget": "true"}, site=site, node=node)
        return go(f"/sites/{site}", "forget")
    if verb not in NODE_VERBS:
        raise not_found("action", verb)
    ask(call, "POST", f"{_NODE}/{verb}", site=site, node=node)
    return go(f"/sites/{site}/nodes/{node}", verb)


def _drain(call: Call, verb: str, **where: str) -> dict[str, Any]:
    """What a drain would stop and move, for the page that asks again; nothing for other verbs."""
    if verb != "drain" or sure():
        return {}
    return {"plan": planned(call, {"action": "drain", **where}), "most": MOST_STOPPED}


def _new() -> dict[str, Any]:
    form = request.form
    body: dict[str, Any] = {"name": form.get("name", "").strip()}
    if form.get("timezone", "").strip():
        body["timezone"] = form["timezone"].strip()
    pairs = [pair.partition("=") for pair in form.get("labels", "").replace(",", " ").split()]
    if pairs:
        body["labels"] = {key: value for key, _, value in pairs}
    return body
