"""`margrave site …`: sites, their tokens, and what holds a site still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import changing, tables, watching
from margrave.cli.commands.site_token import token
from margrave.cli.draining import confirm_drain
from margrave.cli.options import Moment, calls, follows, labels, naming
from margrave.cli.paths import at
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

SITES = at("sites")
FIELDS = (
    "name", "labels", "timezone", "freshness", "last_seen", "wanted_commit", "applied_commit",
    "behind",
    "paused", "locked", "halted", "nodes", "deployments",
)  # fmt: skip


@click.group(cls=Noun)
def site() -> None:
    """Sites and their runners."""


site.add_command(token)


@site.command("list")
@follows
@shows
@calls
def list_(api: Api, out: Output, follow: bool) -> None:
    """All sites."""

    def draw(out: Output, page: Any) -> None:
        out.list(page, tables.SITES, "no sites yet: margrave site add NAME")

    watching.show(api, out, lambda: api.page(SITES), draw, follow=follow)


@site.command()
@naming("sites", "site")
@follows
@shows
@calls
def show(api: Api, out: Output, site: str, follow: bool) -> None:
    """One site with its nodes."""

    def fetch() -> tuple[Any, list[dict[str, Any]]]:
        found = api.get(at("sites", site))
        return found, api.items(at("sites", site, "nodes")) if out.for_eyes else []

    watching.show(api, out, fetch, _draw, follow=follow, site=site)


def _draw(out: Output, found: tuple[Any, list[dict[str, Any]]]) -> None:
    if not out.for_eyes:
        out.answer(found[0])
        return
    out.card(found[0], FIELDS)
    click.echo()
    out.rows(tables.NODES, found[1], "no nodes yet: margrave node add")


@site.command()
@click.argument("name")
@labels
@click.option("--timezone", help="such as Europe/Oslo; windows are read in it")
@shows
@calls
def add(
    api: Api, out: Output, name: str, labels: tuple[tuple[str, str], ...], timezone: str | None
) -> None:
    """Add a site. The token its runner needs is shown this once."""
    body: dict[str, Any] = {"name": name}
    body |= {"labels": dict(labels)} if labels else {}
    body |= {"timezone": timezone} if timezone else {}
    answer = api.post(SITES, body)
    if not out.for_eyes:
        out.answer(answer)
        return
    added = changing.landed(f"added {name}", answer, f"{name} is added")
    out.say(f"{added}; its runner's controller.token, shown this once:")
    click.echo(answer["token"])


@site.command()
@naming("sites", "site")
@asks
@shows
@calls
def remove(api: Api, out: Output, site: str, yes: bool) -> None:
    """Remove a site that has no deployments."""
    confirm(f"Remove the site {site}?", yes=yes)
    answer = api.send("DELETE", at("sites", site))
    removed = changing.landed(f"removed {site}", answer, f"{site} is removed")
    out.done(removed, answer or {"name": site})


@site.command()
@naming("sites", "site")
@click.option("--reason", required=True, help="shown to whoever wonders why nothing happens")
@click.option(
    "--until", type=Moment(), help="such as 2030-01-31T18:00:00Z, or 2h; for ever if not given"
)
@shows
@calls
def pause(api: Api, out: Output, site: str, reason: str, until: str | None) -> None:
    """Nothing new starts at the site until it is resumed."""
    body = {"reason": reason} | ({"until": until} if until else {})
    answer = api.post(at("sites", site, "pause"), body)
    out.done(changing.landed(f"{site} is paused", answer), answer)


@site.command()
@naming("sites", "site")
@shows
@calls
def resume(api: Api, out: Output, site: str) -> None:
    """End a pause."""
    answer = api.post(at("sites", site, "resume"), {})
    out.done(changing.landed(f"{site} goes on", answer), answer)


@site.command()
@naming("sites", "site")
@asks
@shows
@calls
def drain(api: Api, out: Output, site: str, yes: bool) -> None:
    """Stop what runs at the site, and place nothing there; what that would be is shown first."""
    confirm_drain(api, out, site, yes=yes)
    answer = api.post(at("sites", site, "drain"), {})
    out.done(changing.landed(f"{site} is being drained", answer), answer)


@site.command()
@naming("sites", "site")
@shows
@calls
def undrain(api: Api, out: Output, site: str) -> None:
    """Let things be placed at the site again."""
    answer = api.post(at("sites", site, "undrain"), {})
    out.done(changing.landed(f"{site} takes placements again", answer), answer)


@site.command()
@naming("sites", "site")
@shows
@calls
def reload(api: Api, out: Output, site: str) -> None:
    """Let the site's runner look at Git and its nodes now."""
    out.done(f"{site} was asked to look", api.post(at("sites", site, "reload"), {}))


@site.command()
@naming("sites", "site")
@click.option("--commit", required=True, help="the commit to go on from")
@asks
@shows
@calls
def accept(api: Api, out: Output, site: str, commit: str, yes: bool) -> None:
    """Go on after the history of Git was rewritten."""
    confirm(f"Let {site} go on from {commit}, whatever it ran before?", yes=yes)
    answer = api.post(at("sites", site, "accept"), {"commit": commit})
    out.done(f"{site} goes on from {commit}", answer)
