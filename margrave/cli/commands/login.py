"""`margrave login URL`: keep a token, so that the next commands need none."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from margrave.cli import contexts
from margrave.cli.paths import at
from margrave.errors import MargraveError, Refused
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from margrave.terminal.output import Output


@click.command(cls=Verb)
@click.argument("url")
@click.option("--user", help="asked for when it is not given")
@click.option("--token-stdin", is_flag=True, help="read a token instead of signing in")
@click.option("--insecure", is_flag=True, help="also over http to another machine")
@click.option("--cert", default="", metavar="FILE", help="certificate to show, PEM")
@click.option("--key", default="", metavar="FILE", help="its key, PEM")
@click.option("--name", help="what to call it among several controllers; host:port if not given")
@shows
def login(
    out: Output,
    url: str,
    user: str | None,
    token_stdin: bool,
    insecure: bool,
    cert: str,
    key: str,
    name: str | None,
) -> None:
    """Sign in at the controller and keep the token in your configuration folder.

    The password is asked for, or read as the first line of what is piped in. With several
    controllers `margrave context` changes between them. The paths of certificate and key are kept
    with the token, and stay until others are named.
    """
    url = contexts.check_url(url)
    if contexts.in_clear(url) and not insecure:
        raise Refused(f"{url}: the password would travel in clear", "use https, or --insecure")
    known = contexts.load()
    name = name or contexts.name_for(url)
    kept = contexts.kept_for(url, known.using(name) if name in known.known else known)
    account = contexts.with_pair(contexts.Account(url), kept, cert, key)
    token = _line("token") if token_stdin else _sign_in(account, user)
    account = replace(account, token=token)
    _prove(account)
    path = contexts.keep(contexts.load().with_account(name, account))
    answer = {"name": name, "url": url, "kept_in": str(path)}
    out.done(f"signed in at {url}; the token is kept as {name} in {path}", answer)


def _sign_in(account: contexts.Account, user: str | None) -> str:
    from margrave.cli.api import Api

    stdin = sys.stdin
    name = user or str(click.prompt("user", err=True))
    password = (
        str(click.prompt("password", hide_input=True, err=True))
        if stdin.isatty()
        else _line("password")
    )
    api = Api(account.url, pair=account.pair)
    answer = api.post(at("login"), {"user": name, "password": password})
    return str(answer["token"])


def _line(what: str) -> str:
    text = sys.stdin.readline().strip()
    if not text:
        raise MargraveError(f"no {what} was given", f"pipe the {what} in as one line")
    return text


def _prove(account: contexts.Account) -> None:
    from margrave.cli.api import Api

    api = Api(account.url, account.token, pair=account.pair)
    api.get(at("meta", "capabilities"))
