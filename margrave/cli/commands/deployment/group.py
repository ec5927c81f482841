"""The noun itself; its verbs stand in the modules beside this one."""

from __future__ import annotations

import click

from margrave.terminal.shape import Noun


@click.group(cls=Noun)
def deployment() -> None:
    """What runs where, and how it came to that.

    D is an id, an unambiguous beginning of one, or a name, which means all its sites.
    """
