"""`margrave source …`: registries that the catalogue is read from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from margrave.cli import tables
from margrave.cli.options import calls, naming
from margrave.cli.paths import at
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

SOURCES = at("app-sources")


@click.group(cls=Noun)
def source() -> None:
    """Registries that the catalogue is read from."""


@source.command("list")
@shows
@calls
def list_(api: Api, out: Output) -> None:
    """All sources."""
    out.list(api.page(SOURCES), tables.SOURCES, "no sources yet: margrave source add NAME URL")


@source.command()
@click.argument("name")
@click.argument("url")
@click.option("--ref", help="branch, tag or commit; the default branch if not given")
@click.option("--path", help="the folder inside the repository")
@click.option(
    "--credentials",
    metavar="NAME",
    help="the file in the controller's state/credentials that lets it in",
)
@shows
@calls
def add(
    api: Api,
    out: Output,
    name: str,
    url: str,
    ref: str | None,
    path: str | None,
    credentials: str | None,
) -> None:
    """Add the registry at URL (https, ssh, or a path on the controller's machine).

    A password or key never passes through here: whoever looks after the controller's machine
    writes `user:password` or an SSH key into a file of its state/credentials, which is named.
    """
    given = {"ref": ref, "path": path, "credentials": credentials}
    body = {"name": name, "url": _absolute(url)}
    body |= {key: value for key, value in given.items() if value}
    out.done(f"added {name}; read it with: margrave app sync {name}", api.post(SOURCES, body))


def _absolute(url: str) -> str:
    """A folder named from here, as the controller has to name it."""
    if "://" in url or not Path(url).is_dir():
        return url
    return str(Path(url).resolve())


@source.command()
@naming("sources", "name")
@asks
@shows
@calls
def remove(api: Api, out: Output, name: str, yes: bool) -> None:
    """Remove a source; what was deployed from it stays."""
    confirm(f"Remove the source {name}?", yes=yes)
    api.send("DELETE", at("app-sources", name))
    out.done(f"removed {name}", {"name": name})
