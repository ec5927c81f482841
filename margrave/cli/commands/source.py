"""`margrave source …`: registries that the catalogue is read from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from margrave.cli import tables
from margrave.cli.options import asks, calls, confirm, shows
from margrave.cli.paths import at
from margrave.cli.shape import Noun
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.cli.output import Output

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
@click.option("--user", help="user name for the repository")
@click.option("--password-stdin", is_flag=True, help="read its password or token")
@shows
@calls
def add(
    api: Api,
    out: Output,
    name: str,
    url: str,
    ref: str | None,
    path: str | None,
    user: str | None,
    password_stdin: bool,
) -> None:
    """Add the registry at URL (https, ssh, or a path on the controller's machine)."""
    body: dict[str, object] = {"name": name, "url": _absolute(url)}
    body |= {key: value for key, value in (("ref", ref), ("path", path)) if value}
    if user or password_stdin:
        body["credentials"] = _credentials(user, password_stdin=password_stdin)
    answer = api.post(SOURCES, body)
    if out.for_eyes:
        out.say(f"added {name}; read it with: margrave app sync {name}")
    else:
        out.answer(answer)


def _absolute(url: str) -> str:
    """A folder named from here, as the controller has to name it."""
    if "://" in url or not Path(url).is_dir():
        return url
    return str(Path(url).resolve())


def _credentials(user: str | None, *, password_stdin: bool) -> dict[str, str]:
    if not (user and password_stdin):
        raise MargraveError("a user needs a password", "give --user and --password-stdin together")
    line = sys.stdin.readline().strip()
    return {"username": user, "password": line}


@source.command()
@click.argument("name")
@asks
@calls
def remove(api: Api, name: str, yes: bool) -> None:
    """Remove a source; what was deployed from it stays."""
    confirm(f"Remove the source {name}?", yes=yes)
    api.send("DELETE", at("app-sources", name))
    click.echo(f"removed {name}")
