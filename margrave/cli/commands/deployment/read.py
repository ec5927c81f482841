"""Verbs of `margrave deployment` that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import resolve, tables
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.options import calls, shows, sites
from margrave.cli.watching import changes, watch

if TYPE_CHECKING:
    from margrave.cli.api import Api, Event
    from margrave.cli.output import Output

DEPLOYMENTS = "/api/v1/deployments"
FIELDS = (
    "id", "name", "site", "app", "version", "profile", "state", "outcome", "freshness",
    "parameters", "revision", "commit", "author", "created_at", "updated_at",
)  # fmt: skip


@deployment.command("list")
@click.option("--site", help="only at this site")
@click.option("--app", help="only of this application")
@click.option("--name", help="only of this name")
@click.option("--state", help="only in this state; DELETED shows those that are gone")
@click.option("--outcome", help="only with this outcome")
@click.option("-q", "--search", help="only those with these words")
@click.option("--limit", type=click.IntRange(min=1), help="only so many")
@click.option("--watch", "follow", is_flag=True, help="again after each change")
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
@click.argument("wanted", metavar="D")
@sites()
@click.option("--watch", "follow", is_flag=True, help="again after each change")
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
    found: dict[str, Any] = api.get(f"{DEPLOYMENTS}/{name}")
    return {**found, "placements": api.items(f"{DEPLOYMENTS}/{name}/placements")}


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
@click.argument("wanted", metavar="D")
@sites()
@shows
@calls
def history(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """Every transition, oldest first."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    items = [row for one in found for row in api.items(f"{DEPLOYMENTS}/{one['id']}/history")]
    items.sort(key=lambda row: str(row["at"]))
    out.list({"items": items, "next": None}, tables.HISTORY, "nothing has happened yet")


@deployment.command()
@click.argument("wanted", metavar="D")
@sites()
@shows
@calls
def explain(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """Why it is as it is, and what comes next."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    answers = [api.get(f"{DEPLOYMENTS}/{one['id']}/explain") for one in found]
    if not out.for_eyes:
        out.answer(answers[0] if len(answers) == 1 else {"items": answers, "next": None})
        return
    for one, answer in zip(found, answers, strict=True):
        click.echo(f"{one['name']} at {one['site']}: {one['state']}, {one['outcome']}")
        for line in _told(answer):
            click.echo(f"  {line}")


def _told(value: Any) -> list[str]:
    """Whatever the controller explains, as lines."""
    if isinstance(value, list):
        return [line for one in value for line in _told(one)]
    if isinstance(value, dict):
        return [f"{key.replace('_', ' ')}: {tables.words(one)}" for key, one in value.items()]
    return [tables.words(value)]


@deployment.command()
@click.argument("wanted", metavar="D")
@sites()
@click.option("--follow", is_flag=True, help="go on while the operation runs")
@shows
@calls
def logs(api: Api, out: Output, wanted: str, sites: tuple[str, ...], follow: bool) -> None:
    """What the newest operation on each node said."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    newest: dict[str, dict[str, Any]] = {}
    for one in found:
        for row in api.items("/api/v1/operations", deployment=one["id"]):
            place = f"{row['site']}/{row['node']}"
            known = newest.get(place)
            if known is None or str(row["started_at"]) > str(known["started_at"]):
                newest[place] = row
    entries = []
    for place, row in sorted(newest.items()):
        text = api.get(f"/api/v1/operations/{row['id']}/log")
        entries.append({"operation": row, "log": text})
        if out.for_eyes:
            click.echo(f"{place}  {row['kind']} {row['state']}  {tables.words(row['started_at'])}")
            click.echo(_log_text(text))
            if follow and row["state"] == "running":
                _follow(api, str(row["id"]))
    if not out.for_eyes:
        out.answer({"items": entries, "next": None})


def _log_text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("items") or value.get("lines") or value.get("log") or ""
    if isinstance(value, list):
        lines = (one.get("line", one) if isinstance(one, dict) else one for one in value)
        return "\n".join(f"  {line}" for line in lines)
    return "\n".join(f"  {line}" for line in str(value or "").splitlines())


def _follow(api: Api, operation: str) -> None:
    for event in api.events(f"/api/v1/operations/{operation}/events"):
        click.echo(f"  {event.data.get('line') or event.data.get('message') or event.kind}")
        if event.kind in {"end", "error"}:
            return


@deployment.command("watch")
@click.argument("wanted", metavar="D")
@sites()
@shows
@calls
def watch_(api: Api, out: Output, wanted: str, sites: tuple[str, ...]) -> None:
    """A line for everything that happens to it, until interrupted."""
    found = resolve.deployments(api, wanted, sites, deleted=True)
    ids = {str(one["id"]): one for one in found}
    for one in found:
        for row in api.items(f"{DEPLOYMENTS}/{one['id']}/placements"):
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
