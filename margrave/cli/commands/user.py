"""`margrave user …`: people who may sign in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from margrave.cli import tables
from margrave.cli.commands.token import ROLES
from margrave.cli.options import calls, limited
from margrave.cli.paths import at
from margrave.errors import MargraveError
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

USERS = at("users")


@click.group(cls=Noun)
def user() -> None:
    """People who may sign in."""


@user.command("list")
@shows
@calls
def list_(api: Api, out: Output) -> None:
    """All users."""
    out.list(api.page(USERS), tables.USERS, "no users")


@user.command()
@click.argument("name")
@click.option("--role", type=ROLES, default="viewer", show_default=True)
@limited
@shows
@calls
def add(api: Api, out: Output, name: str, role: str, limits: dict[str, Any]) -> None:
    """Add a user; the password is asked for, or read as one line of what is piped in."""
    body = {"name": name, "role": role, "password": _password(), **limits}
    out.done(f"added {name}", api.post(USERS, body))


@user.command()
@click.argument("name")
@click.option("--role", type=ROLES)
@click.option("--password", "renew", is_flag=True, help="give a new password")
@limited
@click.option("--all-sites", is_flag=True, help="no longer of some sites alone")
@click.option("--disable/--enable", default=None, help="whether they may sign in at all")
@shows
@calls
def change(
    api: Api,
    out: Output,
    name: str,
    role: str | None,
    renew: bool,
    limits: dict[str, Any],
    all_sites: bool,
    disable: bool | None,
) -> None:
    """Give a user another role, other sites or a new password; let them in or not."""
    if limits and all_sites:
        raise click.UsageError("--all-sites, or some by --site or --where")
    body: dict[str, Any] = {"role": role} if role else {}
    body |= {"sites": None} if all_sites else limits
    body |= {} if disable is None else {"disabled": disable}
    body |= {"password": _password()} if renew else {}
    if not body:
        words = "--role, --site, --where, --all-sites, --disable, --enable or --password"
        raise click.UsageError(f"nothing to change: give {words}")
    out.done(f"changed {name}", api.send("PATCH", at("users", name), body=body))


@user.command()
@click.argument("name")
@asks
@shows
@calls
def remove(api: Api, out: Output, name: str, yes: bool) -> None:
    """Remove a user and what they signed in with."""
    confirm(f"Remove the user {name}?", yes=yes)
    api.send("DELETE", at("users", name))
    out.done(f"removed {name}", {"name": name})


def _password() -> str:
    stdin = sys.stdin
    if stdin.isatty():
        return str(click.prompt("password", hide_input=True, confirmation_prompt=True, err=True))
    line = stdin.readline().rstrip("\n")
    if not line:
        raise MargraveError("no password was given", "pipe it in as one line")
    return line
