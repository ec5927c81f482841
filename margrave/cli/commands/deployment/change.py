"""Verbs of `margrave deployment` that ask for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import changing, resolve
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.options import calls, extras, naming, sets, sites, versions, waits
from margrave.errors import MargraveError
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows

if TYPE_CHECKING:
    from collections.abc import Callable

    from margrave.cli.api import Api
    from margrave.cli.exits import Exit
    from margrave.cli.values import Values
    from margrave.terminal.output import Output


@deployment.command()
@naming("apps", "app", "APP[@VERSION]")
@sites(required=True)
@click.option("--name", help="the deployment's name; APP if not given")
@sets
@extras("profile", "priority", "reason")
@waits
@shows
@calls
def create(
    api: Api,
    out: Output,
    app: str,
    sites: tuple[str, ...],
    name: str | None,
    values: Values,
    extra: dict[str, Any],
    wait: bool,
    timeout: int,
) -> Exit:
    """Bring APP to sites that do not have it yet."""
    asked = changing.wish(api, app, name, sites, values, extra)
    answers = changing.send(api, [(changing.DEPLOYMENTS, asked.create(asked.sites))])
    return changing.finish(api, out, answers, wait=wait, timeout=timeout)


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@versions("--version", help_="the version to go to; the same one if not given")
@sets
@extras("profile", "priority", "reason")
@waits
@shows
@calls
def update(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    version: str | None,
    values: Values,
    extra: dict[str, Any],
    wait: bool,
    timeout: int,
) -> Exit:
    """Go to another version or other parameters; what is not named stays as it is."""
    found = resolve.deployments(api, wanted, sites)
    body = update_body(api, found, version, values) | extra
    if not body:
        raise click.UsageError("nothing to change: give --version, --set or --profile")
    answers = changing.act(api, "update", found, **body)
    return changing.finish(api, out, answers, wait=wait, timeout=timeout)


def update_body(
    api: Api,
    found: list[dict[str, Any]],
    version: str | None,
    values: Values,
) -> dict[str, Any]:
    """Version and typed parameters of an update of these deployments."""
    body: dict[str, Any] = {"version": version} if version else {}
    if values:
        body["parameters"] = _parameters(api, found, version, values)
    return body


def _parameters(
    api: Api,
    found: list[dict[str, Any]],
    version: str | None,
    values: Values,
) -> dict[str, Any]:
    kinds = {(str(one["app"]), version or str(one["version"])) for one in found}
    read = [changing.typed(api, app, release, values) for app, release in sorted(kinds)]
    if any(one != read[0] for one in read):
        raise MargraveError("the sites' versions declare the parameters differently", "use --site")
    return read[0]


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@versions("--to", help_="a version or revision; what ran before if not given")
@extras("priority", "reason")
@waits
@shows
@calls
def rollback(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    to: str | None,
    extra: dict[str, Any],
    wait: bool,
    timeout: int,
) -> Exit:
    """Go back to what ran before, or to --to."""
    found = resolve.deployments(api, wanted, sites)
    body = ({"to": to} if to else {}) | extra
    answers = changing.act(api, "rollback", found, **body)
    return changing.finish(api, out, answers, wait=wait, timeout=timeout, action="rollback")


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@extras("priority", "reason")
@asks
@waits
@shows
@calls
def delete(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    extra: dict[str, Any],
    yes: bool,
    wait: bool,
    timeout: int,
) -> Exit:
    """Remove it from the sites; named volumes stay on the nodes."""
    found = resolve.deployments(api, wanted, sites)
    places = ", ".join(f"{one['name']} at {one['site']}" for one in found)
    confirm(f"Delete {places}?", yes=yes)
    before = changing.placements_before(api, found) if wait else {}
    answers = changing.act(api, "delete", found, **extra)
    return changing.finish(
        api, out, answers, wait=wait, timeout=timeout, action="delete", before=before
    )


def _verb(name: str, text: str) -> Callable[..., Exit]:
    @deployment.command(name, help=text)
    @naming("deployments", "wanted", "D")
    @sites()
    @extras("reason")
    @waits
    @shows
    @calls
    def run(
        api: Api,
        out: Output,
        wanted: str,
        sites: tuple[str, ...],
        extra: dict[str, Any],
        wait: bool,
        timeout: int,
    ) -> Exit:
        found = resolve.deployments(api, wanted, sites)
        before = changing.placements_before(api, found) if wait else {}
        answers = changing.act(api, name, found, **extra)
        return changing.finish(
            api, out, answers, wait=wait, timeout=timeout, action=name, before=before
        )

    return run


retry = _verb("retry", "Try again now what failed.")
cancel = _verb("cancel", "Stop at the next safe point, and go back if an update was under way.")
release = _verb("release", "Let a revision that failed at a site be tried there again.")
