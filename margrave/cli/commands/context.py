"""`margrave context …`: the controllers one has signed in at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from margrave.cli import complete, contexts, tables
from margrave.cli.options import asks, confirm, shows
from margrave.cli.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.output import Output


@click.group(cls=Noun)
def context() -> None:
    """The controllers you have signed in at; one of them is in use.

    `--context NAME` before any command means another one this once. MARGRAVE_URL and
    MARGRAVE_TOKEN win over the one in use.
    """


@context.command("list")
@shows
def list_(out: Output) -> None:
    """All of them; tokens are not shown."""
    kept = contexts.load()
    items = [
        {"name": name, "url": account.url, "in_use": name == kept.current}
        for name, account in sorted(kept.known.items())
    ]
    columns = tables.pick("name", "url", "in_use")
    out.list({"items": items, "next": None}, columns, "none yet: margrave login URL")


@context.command()
@click.argument("name", shell_complete=complete.contexts)
def use(name: str) -> None:
    """Use that one from now on."""
    kept = contexts.load().using(name)
    contexts.keep(kept)
    click.echo(f"in use: {name} ({kept.get(name).url})")


@context.command()
@click.argument("name", shell_complete=complete.contexts)
@asks
def remove(name: str, yes: bool) -> None:
    """Forget it and its token here; the token itself is revoked with `margrave token revoke`."""
    kept = contexts.load().without(name)
    confirm(f"Forget the token of {name}?", yes=yes)
    contexts.keep(kept)
    click.echo(f"removed {name}")
