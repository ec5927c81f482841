"""`margrave deploy APP[@VERSION] --site S…`: create where it is lacking, update where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import changing
from margrave.cli.options import calls, extras, naming, sets, sites, waits
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.cli.exits import Exit
    from margrave.cli.values import Values
    from margrave.terminal.output import Output


@click.command(cls=Verb)
@naming("apps", "app", "APP[@VERSION]")
@sites(required=True)
@click.option("--name", help="the deployment's name; APP if not given")
@sets
@extras("profile", "priority", "reason")
@waits
@shows
@calls
def deploy(
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
    """Bring APP to the sites: created where a site lacks it, updated where it has it.

    Without @VERSION the newest one is meant, at all of the sites. Parameters that are not set
    keep their values where it is updated.
    """
    asked = changing.wish(api, app, name, sites, values, extra)
    answers = changing.send(api, changing.bodies(api, asked))
    return changing.finish(api, out, answers, wait=wait, timeout=timeout)
