"""`margrave user …`: people who may sign in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from margrave.cli import tables
from margrave.cli.commands.token import ROLES
from margrave.cli.options import asks, calls, confirm, limited, shows
from margrave.cli.paths import at
from margrave.cli.shape import Noun
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.cli.output import Output

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
    _done(out, f"added {name}", api.post(USERS, body))


@user.command()
@click.argument("name")
@click.option("--role", type=ROLES)
@click.option("--password", "renew", is_flag=True, help="give a new password")
@shows
@calls
def change(api: Api, out: Output, name: str, role: str | None, renew: bool) -> None:
    """Give a user another role or a new password."""
    body: dict[str, Any] = {"role": role} if role else {}
    body |= {"password": _password()} if renew else {}
    if not body:
        raise click.UsageError("nothing to change: give --role or --password")
    _done(out, f"changed {name}", api.send("PATCH", at("users", name), body=body))


@user.command()
@click.argument("name")
@asks
@calls
def remove(api: Api, name: str, yes: bool) -> None:
    """Remove a user and what they signed in with."""
    confirm(f"Remove the user {name}?", yes=yes)
    api.send("DELETE", at("users", name))
    click.echo(f"removed {name}")


def _password() -> str:
    stdin = sys.stdin
    if stdin.isatty():
        return str(click.prompt("password", hide_input=True, confirmation_prompt=True, err=True))
    line = stdin.readline().rstrip("\n")
    if not line:
        raise MargraveError("no password was given", "pipe it in as one line")
    return line


def _done(out: Output, text: str, answer: Any) -> None:
    if out.for_eyes:
        out.say(text)
    else:
        out.answer(answer)
