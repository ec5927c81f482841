"""`margrave version`."""

from __future__ import annotations

import click

from margrave import __version__
from margrave.cli.shape import Verb


@click.command(cls=Verb)
def version() -> None:
    """The version of this command."""
    click.echo(f"margrave {__version__}")
