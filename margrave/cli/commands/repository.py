"""`margrave repository …`: the deployments repository as the controller follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from margrave.cli.options import calls
from margrave.cli.paths import at
from margrave.terminal.asking import asks, confirm
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

REPOSITORY = at("repository")
FIELDS = ("mode", "head", "problem", "halted.reason", "halted.commit")
WAITING = pick("branch", "request", "site", "commit")


@click.group(cls=Noun)
def repository() -> None:
    """The deployments repository, and what waits there to be merged."""


@repository.command()
@shows
@calls
def show(api: Api, out: Output) -> None:
    """Where it stands, why nothing is published (if so), and the branches that wait."""
    found = api.get(REPOSITORY)
    if not out.for_eyes:
        out.answer(found)
        return
    out.card(found, FIELDS)
    click.echo()
    out.rows(WAITING, found["waiting"], "nothing waits to be merged")


@repository.command()
@click.option("--commit", required=True, help="where main stands now, as you have looked at it")
@asks
@shows
@calls
def accept(api: Api, out: Output, commit: str, yes: bool) -> None:
    """Follow a main that was rewritten; until then nothing is published."""
    confirm(f"Follow main from {commit} on, whatever it said before?", yes=yes)
    answer = api.post(at("repository", "accept"), {"commit": commit})
    out.done(f"main is followed from {commit} on", answer)
