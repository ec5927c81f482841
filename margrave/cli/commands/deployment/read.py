"""Verbs of `margrave deployment` that change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from margrave.cli import holds, resolve, tables, watching
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.exits import Problem
from margrave.cli.options import calls, follows, in_site, naming, sites
from margrave.cli.paths import at
from margrave.terminal.cells import words
from margrave.terminal.options import shows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from margrave.cli.api import Api, Event
    from margrave.terminal.output import Output

DEPLOYMENTS = at("deployments")
FIELDS = (
    "id", "name", "site", "app", "version", "profile", "state", "outcome", "held_up", "freshness",
    "parameters", "revision", "commit", "author", "created_at", "updated_at",
)  # fmt: skip


@deployment.command("list")
@in_site
@click.option("--app", help="only of this application")
@click.option("--name", help="only of this name")
@click.option("--state", help="only in this state; DELETED shows those that are gone")
@click.option("--outcome", help="only with this outcome")
@click.option("-q", "--search", help="only those with these words")
@click.option("--limit", type=click.IntRange(min=1), help="only so many")
@follows
@shows
@calls
def list_(api: Api, out: Output, follow: bool, limit: int | None, **filters: str | None) -> None:
    """All deployments, or those that the options mean."""
    filters["q"] = filters.pop("search")

    def draw(out: Output, page: Any) -> None:
        out.list(page, tables.DEPLOYMENTS, "no deployments: margrave deploy APP --site SITE")

    def fetch() -> dict[str, Any]:
        return api.page(DEPLOYMENTS, limit, **filters)

    watching.show(api, out, fetch, draw, follow=follow, site=filters["site"])


def _which(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Which events tell of them: of one deployment, else of all."""
    return {"deployment": found[0]["id"], "site": found[0]["site"]} if len(found) == 1 else {}


def _path(one: Mapping[str, Any], *more: str) -> str:
    return at("deployments", one["id"], *more)


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@follows
@shows
@calls
def show(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """One deployment, or all of that name, with the placements on nodes."""
    meant = resolve.deployments(api, wanted, sites, deleted=True)

    def fetch() -> list[dict[str, Any]]:
        found = [_whole(api, one) for one in meant]
        if not out.for_eyes:
            return found
        return [{**one, "held_up": _held_up(api, one)} for one in found]

    watching.show(api, out, fetch, _draw, follow=follow, **_which(meant))


def _whole(api: Api, one: Mapping[str, Any]) -> dict[str, Any]:
    """The same id may stand at several sites, so its own is always named."""
    found: dict[str, Any] = api.get(_path(one), site=one["site"])
    rows = api.items(_path(one, "placements"), site=one["site"])
    return {**found, "placements": rows}


def _held_up(api: Api, one: Mapping[str, Any]) -> str | None:
    """Return why a change of the deployment does not go on, for people; None when it does."""
    try:
        steps = api.get(_path(one, "explain"), site=one["site"])["steps"]
    except Problem:
        return None  # a deployment that is gone has no explanation
    return holds.reason(steps, published=one["outcome"] != "pending") or None


def _draw(out: Output, found: list[dict[str, Any]]) -> None:
    if not out.for_eyes:
        out.answer(found[0] if len(found) == 1 else {"items": found, "next": None})
        return
    for index, one in enumerate(found):
        if index:
            click.echo()
        out.card(one, [name for name in FIELDS if name != "held_up" or one["held_up"]])
        click.echo()
        out.rows(tables.PLACEMENTS, one["placements"], "placed nowhere yet")


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@follows
@shows
@calls
def history(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """Every transition, oldest first."""
    meant = resolve.deployments(api, wanted, sites, deleted=True)

    def fetch() -> list[dict[str, Any]]:
        items = [
            {"site": one["site"], **row}
            for one in meant
            for row in api.items(_path(one, "history"), site=one["site"])
        ]
        return sorted(items, key=lambda row: str(row["at"]))

    def draw(out: Output, items: Any) -> None:
        page = {"items": items, "next": None}
        out.list(page, tables.HISTORY, "nothing has happened yet")

    watching.show(api, out, fetch, draw, follow=follow, **_which(meant))


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@follows
@shows
@calls
def explain(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """Why it is as it is, and what comes next."""
    meant = resolve.deployments(api, wanted, sites, deleted=True)

    def fetch() -> list[dict[str, Any]]:
        return [api.get(_path(one, "explain"), site=one["site"]) for one in meant]

    def draw(out: Output, answers: list[dict[str, Any]]) -> None:
        if not out.for_eyes:
            out.answer(answers[0] if len(answers) == 1 else {"items": answers, "next": None})
            return
        for one, answer in zip(meant, answers, strict=True):
            state = f"{answer['state']}, {answer['outcome']}"
            click.echo(f"{one['name']} at {one['site']}: {state}: {answer['answer']}")
            out.rows(tables.STEPS, answer["steps"])
            for trace, steps in _traces(answer["steps"]).items():
                click.echo(f"trace {trace} ({', '.join(steps)})")

    watching.show(api, out, fetch, draw, follow=follow, **_which(meant))


def _traces(steps: list[dict[str, Any]]) -> dict[str, list[str]]:
    """By which ids it can be followed, and the steps that have each: below the rows, where they
    take no width from what explains those."""
    found: dict[str, list[str]] = {}
    for one in steps:
        if one.get("trace") and one["step"] not in found.get(one["trace"], ()):
            found.setdefault(one["trace"], []).append(one["step"])
    return found


@deployment.command("watch")
@naming("deployments", "wanted", "D")
@sites()
@shows
@calls
def watch_(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """A line for everything that happens to it, until interrupted."""
    meant = resolve.deployments(api, wanted, sites, deleted=True)
    keys = {(str(one["id"]), str(one["site"])) for one in meant}
    for one in meant:
        for row in api.items(_path(one, "placements"), site=one["site"]):
            if out.for_eyes:
                click.echo(_line(row.get("since"), row))
    for event in watching.changes(api, **_which(meant)):
        if event is not None and _concerns(event, keys):
            _tell(replace(out, stream=True), event)


def _concerns(event: Event, keys: set[tuple[str, str]]) -> bool:
    mine = str(event.data.get("deployment") or event.data.get("id"))
    known = event.kind in {"placement", "deployment", "operation"}
    return known and (mine, str(event.data.get("site"))) in keys


def _tell(out: Output, event: Event) -> None:
    if not out.for_eyes:
        out.answer({"id": event.id, "event": event.kind, "data": event.data})
    elif event.kind in {"placement", "deployment"}:
        click.echo(_line(event.data.get("at"), event.data))


def _line(at: Any, row: dict[str, Any]) -> str:
    why = tables.trouble(row)
    text = f"{words(at)}  {tables.where(row)}  {tables.state(row)}  {row.get('outcome')}"
    version = row.get("version") or row.get("wanted_version")
    return text + (f"  {version}" if version else "") + (f"  {why}" if why else "")
