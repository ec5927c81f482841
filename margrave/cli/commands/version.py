"""`margrave version`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from margrave import __version__
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from margrave.terminal.output import Output


@click.command(cls=Verb)
@shows
def version(out: Output) -> None:
    """The version of this command."""
    out.done(f"margrave {__version__}", {"name": "margrave", "version": __version__})
