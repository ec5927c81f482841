"""Verbs of `margrave deployment` that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import resolve, tables
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.options import calls, follows, in_site, naming, shows, sites
from margrave.cli.paths import at
from margrave.cli.watching import changes, watch

if TYPE_CHECKING:
    from margrave.cli.api import Api, Event
    from margrave.cli.output import Output

DEPLOYMENTS = at("deployments")
FIELDS = (
    "id", "name", "site", "app", "version", "profile", "state", "outcome", "freshness",
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

    def fetch() -> dict[str, Any]:
        return api.page(DEPLOYMENTS, limit, **filters)

    def draw(page: Any) -> None:
        if out.for_eyes or not follow:
            out.list(page, tables.DEPLOYMENTS, "no deployments: margrave deploy APP --site SITE")
        else:
            out.answer(page, line=True)

    if follow:
        watch(api, fetch, draw, site=filters["site"])
    draw(fetch())


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@follows
@shows
@calls
def show(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """One deployment, or all of that name, with the placements on nodes."""
    ids = [one["id"] for one in resolve.deployments(api, wanted, sites, deleted=True)]

    def fetch() -> list[dict[str, Any]]:
        return [_whole(api, name) for name in ids]

    def draw(found: Any) -> None:
        _draw(out, found, line=follow)

    if follow:
        watch(api, fetch, draw, deployment=ids[0] if len(ids) == 1 else None)
    draw(fetch())


def _whole(api: Api, name: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(at("deployments", name))
    return {**found, "placements": api.items(at("deployments", name, "placements"))}


def _draw(out: Output, found: list[dict[str, Any]], *, line: bool) -> None:
    if not out.for_eyes:
        value = found[0] if len(found) == 1 else {"items": found, "next": None}
        out.answer(value, line=line)
        return
    for index, one in enumerate(found):
        if index:
            click.echo()
        out.card(one, FIELDS)
        click.echo()
        out.rows(tables.PLACEMENTS, one["placements"], "placed nowhere yet")


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@shows
@calls
def history(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """Every transition, oldest first."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    items = [
        {"site": one["site"], **row}
        for one in found
        for row in api.items(at("deployments", one["id"], "history"))
    ]
    items.sort(key=lambda row: str(row["at"]))
    out.list({"items": items, "next": None}, tables.HISTORY, "nothing has happened yet")


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@shows
@calls
def explain(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """Why it is as it is, and what comes next."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    answers = [api.get(at("deployments", one["id"], "explain")) for one in found]
    if not out.for_eyes:
        out.answer(answers[0] if len(answers) == 1 else {"items": answers, "next": None})
        return
    for one, answer in zip(found, answers, strict=True):
        state = f"{answer['state']}, {answer['outcome']}"
        click.echo(f"{one['name']} at {one['site']}: {state}: {answer['answer']}")
        out.rows(tables.STEPS, answer["steps"])


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@click.option("-f", "--follow", is_flag=True, help="go on while the operation runs")
@shows
@calls
def logs(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """What the newest operation on each node said."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    entries = []
    for row in _newest_operations(api, found):
        text = str(api.get(at("operations", row["id"], "log")) or "")
        entries.append({"operation": row, "log": text})
        if out.for_eyes:
            title = f"{row['site']}/{row['node']}  {row['kind']} {row['state']}"
            click.echo(f"{title}  {tables.words(row['started_at'])}")
            _indented(text.splitlines())
            if follow and row["state"] == "running":
                _follow(api, str(row["id"]), told=bool(text))
    if not out.for_eyes:
        out.answer({"items": entries, "next": None})


def _newest_operations(api: Api, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last one of each placement, by site and node."""
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        for row in api.items(at("operations"), deployment=one["id"]):
            place = (str(row["site"]), str(row["node"]))
            known = newest.get(place)
            if known is None or str(row["started_at"]) > str(known["started_at"]):
                newest[place] = row
    return [newest[place] for place in sorted(newest)]


def _indented(lines: list[str]) -> None:
    for line in lines:
        click.echo(f"  {line}")


def _follow(api: Api, operation: str, *, told: bool) -> None:
    """What it says until it ends; the stream begins with what was said before."""
    for event in api.events(at("operations", operation, "events")):
        if event.kind == "log":
            if not told:
                _indented(event.data.get("lines") or [])
            told = False
        if event.kind in {"end", "error"}:
            return


@deployment.command("watch")
@naming("deployments", "wanted", "D")
@sites()
@shows
@calls
def watch_(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """A line for everything that happens to it, until interrupted."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    ids = {str(one["id"]): one for one in found}
    for one in found:
        for row in api.items(at("deployments", one["id"], "placements")):
            if out.for_eyes:
                click.echo(_line(row.get("since"), row))
    for event in changes(api, deployment=next(iter(ids)) if len(ids) == 1 else None):
        if event is not None and _concerns(event, ids):
            _tell(out, event)


def _concerns(event: Event, ids: dict[str, Any]) -> bool:
    mine = event.data.get("deployment") or event.data.get("id")
    return event.kind in {"placement", "deployment", "operation", "log"} and mine in ids


def _tell(out: Output, event: Event) -> None:
    if not out.for_eyes:
        out.answer({"id": event.id, "event": event.kind, "data": event.data}, line=True)
    elif event.kind in {"placement", "deployment"}:
        click.echo(_line(event.data.get("at"), event.data))


def _line(at: Any, row: dict[str, Any]) -> str:
    why = tables.trouble(row)
    text = f"{tables.words(at)}  {tables.where(row)}  {tables.state(row)}  {row.get('outcome')}"
    version = row.get("version") or row.get("wanted_version")
    return text + (f"  {version}" if version else "") + (f"  {why}" if why else "")
