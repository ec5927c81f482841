"""`/git/deployments.git`: who may fetch, who may push, and which requests there are at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from flask import Blueprint, Response, g, request

from controller.access.identity import Role
from controller.git_endpoint.arrival import Arrival, Commands
from controller.git_endpoint.backend import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.access.identity import Identity

PREFIX: Final = "/git/deployments.git"
FETCH: Final = "git-upload-pack"
PUSH: Final = "git-receive-pack"
UNLIMITED: Final = 1 << 62


def blueprint(
    repository: Path,
    admit: Callable[[str], Identity | None],
    pushed: Callable[[Arrival], object],
    shelve: Callable[[], Path],
) -> Blueprint:
    """The routes. `admit` gives whom a token belongs to; `pushed` hears of every push once Git has
    ended, and of who was not let in; `shelve` gives the folder of descriptions that a push is
    checked against."""
    made = Blueprint("git", __name__)

    def _refused(who: Identity | None, service: str, refusal: Response | None) -> Response:
        """Answer a request that is not let in; a push is recorded."""
        if who is not None and service == PUSH and not who.may(Role.OPERATOR):
            pushed(_arrival(who, "this token may not push"))
        return refusal or _unknown()

    @made.get(f"{PREFIX}/info/refs")
    def info_refs() -> Response:
        service = request.args.get("service", "")
        if service not in (FETCH, PUSH):
            return _told(403, "only smart HTTP is served here: use git 1.6.6 or newer")
        who = _asker(admit)
        refusal = _refusal(repository, who, service)
        if refusal or who is None:
            return _refused(who, service, refusal)
        return run(repository, "/info/refs", who)

    @made.post(f"{PREFIX}/<service>")
    def serve(service: str) -> Response:
        if service not in (FETCH, PUSH):
            return _told(404, "there is nothing at this address")
        who = _asker(admit)
        refusal = _refusal(repository, who, service)
        if refusal or who is None:
            return _refused(who, service, refusal)
        # A pack is as large as it is: it is streamed to Git, which has its own limits. None would
        # mean the limit that the application has for all other bodies.
        request.max_content_length = UNLIMITED
        if service == FETCH:
            return run(repository, f"/{service}", who)
        came = _arrival(who)
        return run(repository, f"/{service}", who, came.watch, lambda: pushed(came), shelve())

    return made


def _arrival(who: Identity, refusal: str = "") -> Arrival:
    commands = Commands(request.headers.get("Content-Encoding", ""))
    return Arrival(who, request.remote_addr, str(g.get("request_id", "")), refusal, commands)


def _asker(admit: Callable[[str], Identity | None]) -> Identity | None:
    given = request.authorization
    if given is None:
        return None
    token = given.password if given.type == "basic" else given.token
    return admit(token) if token else None


def _refusal(repository: Path, who: Identity | None, service: str) -> Response | None:
    if who is None:
        return _unknown()
    if not (repository / "HEAD").is_file():
        return _told(404, "this controller publishes to a repository elsewhere (git.remote)")
    if service == PUSH and not who.may(Role.OPERATOR):
        return _told(403, "pushing takes an operator's token")
    return None


def _unknown() -> Response:
    answer = _told(401, "give a token as the password; any user name will do")
    answer.headers["WWW-Authenticate"] = 'Basic realm="Margrave", charset="UTF-8"'
    return answer


def _told(status: int, words: str) -> Response:
    """Git shows plain text to the person who pushes."""
    return Response(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")
