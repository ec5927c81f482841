"""`margrave token …`: tokens for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import tables
from margrave.cli.options import calls, ends, limited
from margrave.cli.paths import at
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

TOKENS = at("tokens")
ROLES = click.Choice(["viewer", "operator", "admin"])


@click.group(cls=Noun)
def token() -> None:
    """Tokens for people and programs."""


@token.command()
@click.argument("name")
@click.option("--role", type=ROLES, default="viewer", show_default=True)
@limited
@ends
@shows
@calls
def create(
    api: Api, out: Output, name: str, role: str, limits: dict[str, Any], until: dict[str, str]
) -> None:
    """Make a token; it is shown this once."""
    answer = api.post(TOKENS, {"name": name, "role": role, **limits, **until})
    out.done(answer["token"], answer)


@token.command("list")
@shows
@calls
def list_(api: Api, out: Output) -> None:
    """All tokens, without what makes them work."""
    out.list(api.page(TOKENS), tables.TOKENS, "no tokens")


@token.command()
@click.argument("token_id", metavar="ID")
@asks
@shows
@calls
def revoke(api: Api, out: Output, token_id: str, yes: bool) -> None:
    """End a token at once."""
    confirm(f"Revoke the token {token_id}?", yes=yes)
    api.send("DELETE", at("tokens", token_id))
    out.done(f"revoked {token_id}", {"id": token_id})
