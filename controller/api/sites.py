"""Sites: what Git says of them, what their runners say, and what operators do with them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from controller.access import passwords
from controller.access.identity import Role
from controller.api import bodies, choices, paging
from controller.api.accepting import Accept, commit_to_accept
from controller.api.call import Call, Reply, deed_of
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Object, Route
from controller.api.tokens import expiry
from controller.publish.sites import Caller
from controller.store import access, commands, fleet, world
from controller.store.commands import Order
from controller.store.shapes import stamp
from controller.store.words import CommandKind
from margrave.findings import Finding
from margrave.lifecycle import Freshness

if TYPE_CHECKING:
    from datetime import datetime

    from controller.publish.proposals import Landed
    from controller.store import Session

TOKENS_AT_ONCE: Final = 2  # one in use, one that takes its place


class Pause(bodies.Body):
    """Why a site is to stand still, and until when."""

    reason: Annotated[str, Field(max_length=500)] = ""
    until: bodies.ZonedTime | None = None


class NewSiteToken(bodies.Body):
    """How long a runner's token is to last; for ever when nothing is said."""

    expires_at: bodies.ZonedTime | None = None


def listed(call: Call) -> dict[str, Any]:
    """GET /sites."""
    page, args = call.page(), call.args
    findings: list[Finding] = []
    freshness = choices.word(args.get("freshness"), Freshness, "/freshness", findings)
    held = choices.word(args.get("held"), fleet.Held, "/held", findings)
    if findings:
        raise invalid(findings)
    with call.parts.store.session() as session:
        rows = fleet.sites(
            session,
            call.parts.moment(),
            after=paging.text(page),
            limit=page.fetch,
            only=call.who.sites,
            wanted=fleet.WantedSites(args.get("q"), freshness, held),
        )
    answer = paging.listing(page, rows)
    return {**answer, "items": _with_lag(call, answer["items"])}


def shown(call: Call, site: str) -> dict[str, Any]:
    """GET /sites/{site}."""
    with call.parts.store.session() as session:
        found = find(call, session, site)
    return _with_lag(call, [found])[0]


def _with_lag(call: Call, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sites with `behind`: whether what they applied lacks what Git wants."""
    pairs = [(site["applied_commit"], site["wanted_commit"]) for site in found]
    behind = call.parts.repository.ancestry.behind(pairs)
    return [{**site, "behind": late} for site, late in zip(found, behind, strict=True)]


def find(call: Call, session: Session, site: str) -> dict[str, Any]:
    """The site; 404 when there is none that they may see."""
    found = fleet.site(session, site, call.parts.moment()) if call.who.sees(site) else None
    if found is None:
        known = world.site_names(session)
        raise not_found("site", site, [one for one in known if call.who.sees(one)])
    waiting = [one for one in call.parts.publisher.changes.pending() if one["site"] == site]
    return {**found, "pending": waiting}


def created(call: Call, body: dict[str, Any]) -> dict[str, Any] | Reply:
    """POST /sites: committed to Git; its runner's token is shown this once.

    202 where main is protected: the site is there when people merge the branch that is told.
    """
    landed = call.parts.sites.create(body, call.who, call.trace)
    name = str(body["name"])
    with call.parts.store.write() as session:
        made = _new_token(call, session, name)
        call.write_down(session, "site.create", name, stands(landed))
        answer = {"site": find(call, session, name), "token": made["token"]}
    return Reply({**answer, **stands(landed)}, 202) if landed.branch else answer


def changed(call: Call, site: str, body: dict[str, Any]) -> dict[str, Any]:
    """PATCH /sites/{site}: a merge patch of its document in Git."""
    _must_be(call, site)
    landed = call.parts.sites.change(site, body, call.who, call.trace)
    return _done(call, "site.change", site, landed, {"keys": sorted(body)})


def removed(call: Call, site: str) -> Reply:
    """DELETE /sites/{site}: 409 while it has deployments; 202 while a branch waits to be merged."""
    _must_be(call, site)
    landed = call.parts.sites.remove(site, call.who, call.trace)
    with call.parts.store.write() as session:
        call.write_down(session, "site.remove", site, stands(landed))
    return Reply(stands(landed), 202) if landed.branch else Reply(None)


def tokens_listed(call: Call, site: str) -> dict[str, Any]:
    """GET /sites/{site}/tokens: those that are valid; never the token itself."""
    with call.parts.store.session() as session:
        find(call, session, site)
        return {"items": access.site_tokens(session, site, call.parts.clock()), "next": None}


def token_made(call: Call, site: str, body: NewSiteToken) -> dict[str, Any]:
    """POST /sites/{site}/tokens: shown this once."""
    _must_be(call, site)
    ends = expiry(body.expires_at, call.parts.clock())
    with call.parts.store.write() as session:
        valid = access.site_tokens(session, site, call.parts.clock())
        if len(valid) >= TOKENS_AT_ONCE:
            raise Problem(
                409,
                f'site "{site}" has {len(valid)} valid tokens',
                cure=f"revoke one first: {', '.join(one['id'] for one in valid)}",
            )
        made = _new_token(call, session, site, ends)
        call.write_down(session, "site.token.create", site, {"id": made["id"]})
    return made


def token_revoked(call: Call, site: str, token: str) -> Reply:
    """DELETE /sites/{site}/tokens/{id}."""
    _must_be(call, site)
    with call.parts.store.write() as session:
        if not access.revoke_site_token(session, site, token, call.parts.clock()):
            raise not_found("token", token)
        call.write_down(session, "site.token.revoke", site, {"id": token})
    return Reply(None)


def paused(call: Call, site: str, body: Pause) -> dict[str, Any] | Reply:
    """POST /sites/{site}/pause."""
    _must_be(call, site)
    until = stamp(body.until)
    caller = caller_of(call, "site.pause", site, {"reason": body.reason})
    landed = call.parts.sites.pause(site, body.reason, until, caller)
    return _hastened(call, site, landed)


def resumed(call: Call, site: str) -> dict[str, Any] | Reply:
    """POST /sites/{site}/resume."""
    _must_be(call, site)
    caller = caller_of(call, "site.resume", site)
    return _hastened(call, site, call.parts.sites.resume(site, caller))


def drained(call: Call, site: str) -> dict[str, Any] | Reply:
    """POST /sites/{site}/drain."""
    _must_be(call, site)
    caller = caller_of(call, "site.drain", site)
    return _hastened(call, site, call.parts.sites.drain(site, True, caller))


def undrained(call: Call, site: str) -> dict[str, Any] | Reply:
    """POST /sites/{site}/undrain."""
    _must_be(call, site)
    caller = caller_of(call, "site.undrain", site)
    return _hastened(call, site, call.parts.sites.drain(site, False, caller))


def reloaded(call: Call, site: str) -> dict[str, Any]:
    """POST /sites/{site}/reload: a command."""
    return give(call, site, CommandKind.RELOAD, {})


def accepted(call: Call, site: str, body: Accept) -> dict[str, Any]:
    """POST /sites/{site}/accept: a command; rewritten history is taken up to that commit."""
    with call.parts.store.session() as session:
        commit = commit_to_accept(call, session, find(call, session, site), body.commit)
    return give(call, site, CommandKind.ACCEPT, {"commit": commit})


def give(call: Call, site: str, kind: CommandKind, data: dict[str, Any]) -> dict[str, Any]:
    """Store a command for the site's runner and hint it."""
    _must_be(call, site)
    with call.parts.store.write() as session:
        order = Order(site, kind, call.who.actor, data, trace=call.trace)
        command = commands.add(session, order, call.parts.clock())
        call.write_down(session, f"command.{kind}", site, data)
    call.parts.broker.hint("command", site)
    return {"id": command, "kind": kind.value, **data}


def _must_be(call: Call, site: str) -> None:
    with call.parts.store.session() as session:
        find(call, session, site)


def _new_token(
    call: Call, session: Session, site: str, ends: datetime | None = None
) -> dict[str, Any]:
    token, token_id = passwords.new_token("mgs"), str(uuid.uuid4())
    values = {
        "id": token_id,
        "site": site,
        "digest": passwords.token_hash(token),
        "created_by": call.who.actor,
        "created_at": call.parts.clock(),
        "expires_at": ends,
    }
    access.add_site_token(session, values)
    return {"id": token_id, "token": token}


def _done(
    call: Call, action: str, site: str, landed: Landed, detail: dict[str, Any] | None = None
) -> dict[str, Any]:
    with call.parts.store.write() as session:
        call.write_down(session, action, site, {**stands(landed), **(detail or {})})
        return {**find(call, session, site), **stands(landed)}


def caller_of(call: Call, action: str, target: str, detail: dict[str, Any] | None = None) -> Caller:
    """Return the author of an emergency change, with its audit entry."""
    return Caller(call.who, call.trace, deed_of(call.who, action, target, "done", detail))


def _hastened(call: Call, site: str, landed: Landed) -> dict[str, Any] | Reply:
    """The site after an emergency change; 202 while that waits, with what it waits for."""
    with call.parts.store.session() as session:
        answer = {**find(call, session, site), **stands(landed)}
    return Reply(answer, 202) if landed.pending else answer


def stands(landed: Landed) -> dict[str, Any]:
    """Where a change stands: its commit, the branch while people have yet to merge it, and why it
    is still pending."""
    branch = {"branch": landed.branch} if landed.branch else {}
    waits = {"waits": landed.pending} if landed.pending else {}
    return {"commit": landed.commit, **branch, **waits}


ROUTES: Final = (
    Route("GET", "/sites", listed, Role.VIEWER, "Sites"),
    Route(
        "POST",
        "/sites",
        created,
        Role.ADMIN,
        "Add a site",
        Object.REQUIRED,
        201,
        whole_fleet=True,
    ),
    Route("GET", "/sites/<site>", shown, Role.VIEWER, "One site", runner_too=True),
    Route("PATCH", "/sites/<site>", changed, Role.OPERATOR, "Change its document", Object.REQUIRED),
    Route("DELETE", "/sites/<site>", removed, Role.ADMIN, "Remove a site"),
    Route("GET", "/sites/<site>/tokens", tokens_listed, Role.ADMIN, "Tokens of its runner"),
    Route(
        "POST",
        "/sites/<site>/tokens",
        token_made,
        Role.ADMIN,
        "A token for its runner",
        NewSiteToken,
        201,
    ),
    Route("DELETE", "/sites/<site>/tokens/<token>", token_revoked, Role.ADMIN, "Revoke it"),
    Route("POST", "/sites/<site>/pause", paused, Role.OPERATOR, "Let it stand still", Pause),
    Route("POST", "/sites/<site>/resume", resumed, Role.OPERATOR, "Let it go on"),
    Route("POST", "/sites/<site>/drain", drained, Role.OPERATOR, "Take everything off"),
    Route("POST", "/sites/<site>/undrain", undrained, Role.OPERATOR, "Put everything back"),
    Route("POST", "/sites/<site>/reload", reloaded, Role.OPERATOR, "Look again", None, 202),
    Route(
        "POST",
        "/sites/<site>/accept",
        accepted,
        Role.ADMIN,
        "Accept rewritten history",
        Accept,
        202,
    ),
)
