"""`margrave site token …`: what a site's runner shows itself with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from margrave.cli.options import calls, ends, naming
from margrave.cli.paths import at
from margrave.terminal.asking import asks, confirm
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

COLUMNS = pick("id", "created_by", "created_at", "expires_at", "last_used_at")


@click.group(cls=Noun)
def token() -> None:
    """Tokens of a site's runner: two may be valid while one takes the other's place."""


@token.command("list")
@naming("sites", "site")
@shows
@calls
def list_(api: Api, out: Output, site: str) -> None:
    """Those that are valid, without what makes them work."""
    none = f"none: its runner can say nothing; margrave site token create {site}"
    out.list(api.get(at("sites", site, "tokens")), COLUMNS, none)


@token.command()
@naming("sites", "site")
@ends
@shows
@calls
def create(api: Api, out: Output, site: str, until: dict[str, str]) -> None:
    """Make another one; it is shown this once."""
    answer = api.post(at("sites", site, "tokens"), until or None)
    out.done(answer["token"], answer)


@token.command()
@naming("sites", "site")
@click.argument("token_id", metavar="ID")
@asks
@shows
@calls
def revoke(api: Api, out: Output, site: str, token_id: str, yes: bool) -> None:
    """End one at once: a runner that has no other is not heard any more."""
    confirm(f"Revoke the token {token_id} of {site}'s runner?", yes=yes)
    api.send("DELETE", at("sites", site, "tokens", token_id))
    out.done(f"revoked {token_id}", {"id": token_id})
