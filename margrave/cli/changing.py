"""How verbs that change something are sent, followed and answered."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from margrave.cli import tables, values
from margrave.cli.exits import Exit, Problem
from margrave.cli.paths import at
from margrave.errors import Conflict, NotFound
from margrave.terminal.cells import pick
from margrave.terminal.output import lively

if TYPE_CHECKING:
    from collections.abc import Sequence

    from margrave.cli.api import Api
    from margrave.cli.values import Values
    from margrave.terminal.output import Output

# Placements by deployment, site and node.
Before = Mapping[tuple[str, str, str], Mapping[str, Any]]
DEPLOYMENTS = at("deployments")
ACTIONS = at("deployments", "actions")
PLANS = at("plans")


@dataclass(frozen=True, slots=True)
class Wish:
    """An application at sites, as `deploy`, `create` and `plan` take it."""

    app: str
    version: str
    name: str
    sites: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)  # profile, priority and reason

    def create(self, sites: Sequence[str]) -> dict[str, Any]:
        """The body that creates it there."""
        return {
            "app": self.app,
            "version": self.version,
            "name": self.name,
            "targets": {"sites": list(sites)},
            **self._rest(),
        }

    def update(self, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The body that brings these deployments to it."""
        return {
            "action": "update",
            "select": select(found),
            "version": self.version,
            **self._rest(),
        }

    def _rest(self) -> dict[str, Any]:
        return ({"parameters": dict(self.parameters)} if self.parameters else {}) | dict(self.extra)


def wish(
    api: Api,
    words: str,
    name: str | None,
    sites: Sequence[str],
    pairs: Values,
    extra: Mapping[str, Any],
) -> Wish:
    """`APP[@VERSION]` with its options; without a version the newest one is meant."""
    app, _, version = words.partition("@")
    version = version or str(_known(api, at("apps", app), words)["version"])
    parameters = typed(api, app, version, pairs)
    unique = tuple(dict.fromkeys(sites))
    return Wish(app, version, name or app, unique, parameters, extra)


def typed(api: Api, app: str, version: str, pairs: Values) -> dict[str, Any]:
    """`--set` values by the types that this version declares; asks only when there are some."""
    if not pairs:
        return {}
    path = at("apps", app, "versions", version)
    found = _known(api, path, f"{app}@{version}")
    return values.typed(pairs, found.get("parameters") or [])


def _known(api: Api, path: str, words: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = api.get(path)
    except Problem as problem:
        if problem.status != 404:
            raise
        cure = problem.cure or "see margrave app list"
        raise NotFound(f"{words}: {problem.message}", cure) from None
    return found


def bodies(api: Api, asked: Wish) -> list[tuple[str, dict[str, Any]]]:
    """What brings the wish about: a create where sites lack it, an update where they have it."""
    there = {
        str(one["site"]): one
        for one in api.items(DEPLOYMENTS, name=asked.name)
        if one["site"] in asked.sites
    }
    for one in there.values():
        if one["app"] != asked.app:
            raise Conflict(
                f"{asked.name} at {one['site']} is {one['app']}, not {asked.app}", "give a --name"
            )
    lacking = [site for site in asked.sites if site not in there]
    found = [(DEPLOYMENTS, asked.create(lacking))] if lacking else []
    if there:
        found.append((ACTIONS, asked.update(list(there.values()))))
    return found


def send(api: Api, asked: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The answers to the requests. Of several, all are planned before the first is sent, so
    that what the second would be refused for does not leave the first alone."""
    if len(asked) > 1:
        for _, body in asked:
            _refuse(api.post(PLANS, body))
    return [api.post(path, body, key=str(uuid.uuid4())) for path, body in asked]


def _refuse(answer: Mapping[str, Any]) -> None:
    """Nothing, or the plan's errors as the refusal that the request itself would get."""
    findings = answer.get("plan", answer).get("findings") or []
    errors = [one for one in findings if one.get("severity", "error") == "error"]
    if errors:
        raise Problem(422, {"title": "Unprocessable Entity", "errors": errors})


def act(
    api: Api, action: str, found: Sequence[Mapping[str, Any]], **body: Any
) -> list[dict[str, Any]]:
    """One action on the deployments found, as one request."""
    whole = {"action": action, "select": select(found), **body}
    return [api.post(ACTIONS, whole, key=str(uuid.uuid4()))]


def select(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """These deployments and no others: the same id may stand at several sites."""
    ids = list(dict.fromkeys(str(one["id"]) for one in found))
    return {"ids": ids, "sites": sorted({str(one["site"]) for one in found})}


def placements_before(api: Api, found: Sequence[Mapping[str, Any]]) -> Before:
    """The placements as they stand, to tell an old outcome from a new one."""
    return {
        (str(one["id"]), str(one["site"]), str(row["node"])): row
        for one in found
        for row in api.items(at("deployments", one["id"], "placements"), site=one["site"])
    }


def finish(
    api: Api,
    out: Output,
    answers: Sequence[Mapping[str, Any]],
    *,
    wait: bool,
    timeout: int,
    action: str = "update",
    before: Before | None = None,
) -> Exit:
    """Shows what was accepted; with `wait` follows it to the end and judges that."""
    merged = merge(answers)
    if not wait:
        _accepted(out, merged)
        return Exit.DONE
    from margrave.cli.waiting import Follower, Goal

    progress = lively(sys.stderr) and out.for_eyes
    follower = Follower(
        api,
        timeout,
        lambda text: click.echo(text, err=True) if progress else None,
        lambda text: click.echo(f"margrave: {text}", err=True),
    )
    good = True
    rows: list[Mapping[str, Any]] = []
    for answer in answers:
        concerned = answer.get("deployments") or []
        each = tuple((str(one["id"]), str(one["site"])) for one in concerned)
        done, ended = follower.follow(Goal(str(answer["id"]), each, action, before or {}))
        good, rows = good and done, [*rows, *ended]
    return _ended(out, merged, rows, good=good)


def landed(text: str, answer: object, later: str = "") -> str:
    """What was done, or (`later`, where that reads otherwise) what will be once people have merged
    the branch that it waits on, or once Git answers."""
    waits = answer.get("waits") if isinstance(answer, Mapping) else None
    if waits:
        return f"{text} as soon as this is over: {waits}"
    branch = answer.get("branch") if isinstance(answer, Mapping) else None
    return f"{later or text} once the branch {branch} is merged" if branch else text


def merge(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One answer for the reader; of several requests each stands in it."""
    if len(answers) == 1:
        return dict(answers[0])
    deployments = [one for answer in answers for one in answer.get("deployments") or []]
    return {"id": answers[0]["id"], "deployments": deployments, "requests": list(answers)}


def _accepted(out: Output, answer: dict[str, Any]) -> None:
    if not out.for_eyes:
        out.answer(answer)
        return
    place = f", position {answer['position']}" if answer.get("position") is not None else ""
    out.say(f"accepted as request {answer['id']}{place}")
    if answer.get("deployments"):
        out.rows(pick("id", "site"), answer["deployments"])


def _ended(
    out: Output, answer: dict[str, Any], rows: Sequence[Mapping[str, Any]], *, good: bool
) -> Exit:
    if out.for_eyes:
        out.rows(tables.PLACEMENTS, rows, "nothing is placed")
    else:
        out.answer({**answer, "placements": list(rows)})
    if good:
        return Exit.DONE
    for one in rows:
        if one["outcome"] != "succeeded":
            why = tables.trouble(one)
            text = f"margrave: {one['site']}/{one['node']}: {one['outcome']}"
            click.echo(text + (f": {why}" if why else ""), err=True)
    return Exit.FAILED
