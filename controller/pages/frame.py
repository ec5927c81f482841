"""What every page has in common: who looks, the frame, forms that are ours, and refusals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from flask import Response, g, redirect, render_template, request

from controller.access.identity import Role
from controller.api.call import Call
from controller.api.problems import Problem, answer, cure_of
from controller.pages import asking, charts, words
from controller.pages import session as signing

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.wrappers import Response as Answer

    from controller.parts import Parts

HTML: Final = "text/html; charset=utf-8"
PROGRAMS: Final = ("/api/", "/git/", "/hooks/", "/live", "/schemas/", "/static/")

PEOPLE: Final = {
    404: (
        "There is no page at this address",
        "It may have been mistyped, or what it showed is gone.",
    ),
    405: (
        "This address only takes a form",
        "Open the page that has the button, and press it there.",
    ),
    413: ("The form is larger than a page takes", "Say less at once; nothing was changed."),
    500: (
        "Something went wrong inside the controller",
        "Try again; when it stays, tell an admin the id.",
    ),
}


def show(parts: Parts, view: Callable[..., Any], **path: str) -> Response | Answer:
    """A page for who is signed in; everybody else is asked to sign in first."""
    who = signing.who(parts)
    if who is None:
        return _to_sign_in()
    if request.method == "POST":
        signing.check_form()
    g.call = call = Call(parts, who)
    # Read before the page is: the stream resumes behind it, so nothing in between is missed.
    g.newest = parts.broker.newest()
    made = view(call, **path)
    response = Response(made, content_type=HTML) if isinstance(made, str) else made
    response.headers["Cache-Control"] = "no-store"
    return response


def render(template: str, look: str = "all", **values: Any) -> str:
    """A template in the frame; `look` names the events that make the page fetch itself again:
    all, none, or kind:name."""
    call: Call | None = g.get("call")
    now = call.parts.clock() if call else datetime.now(UTC)
    return render_template(
        template,
        call=call,
        operator=bool(call and call.who.may(Role.OPERATOR)),
        admin=bool(call and call.who.may(Role.ADMIN)),
        may=lambda method, path: bool(call and asking.may(call, method, path)),
        csrf=g.get("csrf", ""),
        newest=g.get("newest", 0),
        look=look,
        done=words.DONE.get(request.args.get("done", "")),
        clock=lambda text: words.clock(text, now),
        ago=lambda text: words.ago(text, now),
        moment=lambda text: words.moment(text, now),
        timed=lambda text: words.timed(text, now),
        charts=charts,
        rest=_rest,
        **words.HELPERS,
        **values,
    )


def _rest(**more: str) -> str:
    """The query as it stands, at another place of the list."""
    kept = {key: one for key, one in request.args.items() if key not in ("cursor", "done") and one}
    return urlencode({**kept, **more})


def step() -> str:
    """What a form with a plan asks for: check, plan or act; empty where nothing was sent.

    Never by the address, and no act without the plan that was seen: that is to show the plan.
    """
    if request.method != "POST":
        return ""
    asked = request.form.get("do", "")
    return "plan" if asked == "act" and not request.form.get("plan_hash") else asked


def go(path: str, done: str = "") -> Answer:
    """To another page of ours after a form; `done` names the sentence that it begins with."""
    return redirect(f"{path}{'&' if '?' in path else '?'}done={done}" if done else path, 303)


def sure() -> bool:
    """Whether it was asked again, and the answer was yes."""
    return request.form.get("sure") == "yes"


def doubt(question: str, what: str, word: str, back: str, **more: Any) -> str | None:
    """A page that asks again before what cannot be taken back; None once that was answered.

    `plan` is what it would do to each, `kept` what the form has to say again.
    """
    if sure():
        return None
    return render("sure.html", "none", question=question, what=what, word=word, back=back, **more)


def told(problem: Problem) -> Response:
    """Every refusal: a browser gets a page, programs and everything else problem details."""
    best = request.accept_mimetypes.best_match(["application/problem+json", "text/html"])
    if best != "text/html" or request.path.startswith(PROGRAMS):
        return answer(problem)
    # What has no cure of its own is HTTP's own refusal, in words for programs.
    words = (problem.detail, problem.cure) if problem.cure else PEOPLE.get(problem.status)
    title, cure = words or (problem.detail, cure_of(problem))
    trace = g.get("request_id", "") if problem.status >= 500 else ""
    text = render("problem.html", "none", problem=problem, title=title, cure=cure, trace=trace)
    return Response(text, problem.status, problem.headers, content_type=HTML)


def _to_sign_in() -> Response | Answer:
    target = f"/sign-in?next={quote(_stood_on(), safe='/')}"
    if "HX-Request" in request.headers:  # a part of a page was asked for: go there as a whole
        return Response(status=401, headers={"HX-Redirect": target})
    return redirect(target, 303)


def _stood_on() -> str:
    """The page to come back to: this one, or the one whose form was sent; that address has none."""
    if request.method == "GET":
        return request.full_path.rstrip("?")
    page = urlsplit(request.referrer or "")
    if page.netloc != request.host:
        return "/"
    return signing.inner(f"{page.path}?{page.query}" if page.query else page.path)
