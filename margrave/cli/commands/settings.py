"""`margrave settings`: the configuration that a controller runs with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli.options import calls
from margrave.cli.paths import at
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

COLUMNS = pick("key", "value", "about")


@click.command(cls=Verb)
@click.option("--all", "whole", is_flag=True, help="also what is as it is by default")
@shows
@calls
def settings(api: Api, out: Output, whole: bool) -> None:
    """The configuration that the controller runs with; of secrets only whether they are set."""
    page: dict[str, Any] = api.get(at("meta", "settings"))
    if not whole:
        page["items"] = [one for one in page["items"] if not one["default"]]
    out.list(page, COLUMNS, "all is as it is by default")
