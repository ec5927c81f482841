"""`margrave policy …`: what applications need from a site's policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import complete
from margrave.cli.exits import Exit
from margrave.cli.options import calls
from margrave.cli.paths import at
from margrave.terminal.cells import Columns, Resource, pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output


@click.group(cls=Noun)
def policy() -> None:
    """What applications need from the policy of a site."""


@policy.command()
@click.argument("app", metavar="APP[@VERSION]", shell_complete=complete.apps)
@click.option("--site", required=True, shell_complete=complete.sites)
@shows
@calls
def explain(api: Api, out: Output, app: str, site: str) -> Exit:
    """List what an application needs, and which key of the site's policy would allow it.

    Exit code 1 when the site does not allow something that it needs.
    """
    name, _, version = app.partition("@")
    answer = api.get(at("sites", site, "policy"), app=name, version=version or None)
    return _show(out, answer, NEEDS, f"{app} needs nothing beyond its own objects")


@policy.command()
@click.option("--site", required=True, shell_complete=complete.sites)
@shows
@calls
def check(api: Api, out: Output, site: str) -> Exit:
    """List deployments of a site that the policy would refuse at their next change.

    They run on until then. Exit code 1 when there is one.
    """
    answer = api.get(at("sites", site, "policy"))
    return _show(out, answer, REFUSED, f"the policy of {site} allows all deployments of the site")


def _show(out: Output, answer: dict[str, Any], columns: Columns, nothing: str) -> Exit:
    out.list(answer, columns, nothing)
    refused = any(not need["allowed"] for need in answer["items"])
    return Exit.FAILED if refused else Exit.DONE


def _opens(need: Resource) -> object:
    """Return the policy key that allows a need."""
    return need.get("opens") or "nothing"


NEEDS = [
    *pick("component", "path", "reason"),
    ("ALLOWED BY", _opens),
    *pick("allowed"),
]
REFUSED = [*pick("name", "component", "path", "reason"), ("ALLOWED BY", _opens)]
