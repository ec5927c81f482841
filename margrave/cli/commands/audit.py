"""`margrave audit …`: who did what, and whether that record is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli.exits import Exit
from margrave.cli.options import calls
from margrave.cli.paths import at
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from margrave.cli.api import Api
    from margrave.terminal.output import Output

AUDIT = at("audit")
COLUMNS = pick("id", "at", "actor", "address", "action", "target", "outcome")


@click.group(cls=Noun)
def audit() -> None:
    """Who did what, and whether that record is whole."""


@audit.command("list")
@click.option("--limit", type=click.IntRange(min=1), help="only so many")
@shows
@calls
def list_(api: Api, out: Output, limit: int | None) -> None:
    """Who did what, newest first."""
    out.list(api.page(AUDIT, limit), COLUMNS, "nothing was done yet")


@audit.command()
@click.option("--newest", metavar="HASH", help="the newest entry's hash as it was noted before")
@shows
@calls
@click.pass_context
def verify(context: click.Context, api: Api, out: Output, newest: str | None) -> None:
    """Read the chain of entries from its beginning: each one's hash covers the one before.

    Ends with 1 when an entry was changed or taken out. Entries cut off at the end show only against
    a hash that was noted elsewhere: give it with --newest, and note what is printed.
    """
    found = api.get(at("audit", "verify"))
    cut = newest is not None and not _has(api, newest)
    if not out.for_eyes:
        out.answer({**found, "cut": cut})
    elif found["broken_at"] is not None:
        click.echo(f"entry {found['broken_at']} is not what was written (or one before it is gone)")
    elif cut:
        click.echo(f"no entry has the hash {newest}: {_reason_of_cut(found)}")
    else:
        click.echo(f"{found['entries']} entries are whole; the newest is {found['newest'] or '-'}")
    if cut or found["broken_at"] is not None:
        context.exit(Exit.FAILED)


def _reason_of_cut(found: Mapping[str, Any]) -> str:
    """Tell why a noted hash may be gone: also old entries are deleted, after `retention.audit`."""
    words = "the newest entries were taken away"
    pruned = found.get("pruned")
    return f"{words}, or it is older than {pruned['before']} and was deleted" if pruned else words


def _has(api: Api, newest: str) -> bool:
    return any(entry["hash"] == newest for entry in api.items(AUDIT))
