"""`margrave context …`: the controllers one has signed in at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from margrave.cli import complete, contexts
from margrave.terminal.asking import asks, confirm
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.terminal.output import Output


@click.group(cls=Noun)
def context() -> None:
    """The controllers you have signed in at; one of them is in use.

    `--context NAME` before any command means another one this once. MARGRAVE_URL, MARGRAVE_TOKEN,
    MARGRAVE_CERT and MARGRAVE_KEY win over the one in use.
    """


@context.command("list")
@shows
def list_(out: Output) -> None:
    """All of them; tokens are not shown."""
    kept = contexts.load()
    items = [
        {
            "name": name,
            "url": account.url,
            "in_use": name == kept.current,
            "cert": account.cert or None,
        }
        for name, account in sorted(kept.known.items())
    ]
    columns = pick("name", "url", "in_use")
    out.list({"items": items, "next": None}, columns, "none yet: margrave login URL")


@context.command()
@click.argument("name", shell_complete=complete.contexts)
@shows
def use(out: Output, name: str) -> None:
    """Use that one from now on."""
    kept = contexts.load().using(name)
    contexts.keep(kept)
    url = kept.get(name).url
    out.done(f"in use: {name} ({url})", {"name": name, "url": url, "in_use": True})


@context.command()
@click.argument("name", shell_complete=complete.contexts)
@asks
@shows
def remove(out: Output, name: str, yes: bool) -> None:
    """Forget it and its token here; the token itself is revoked with `margrave token revoke`."""
    kept = contexts.load().without(name)
    confirm(f"Forget the token of {name}?", yes=yes)
    contexts.keep(kept)
    out.done(f"removed {name}", {"name": name})
