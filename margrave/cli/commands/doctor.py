"""`margrave doctor`: what is wrong here, and what mends it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from margrave.cli import tables
from margrave.cli.exits import Exit
from margrave.cli.options import calls, shows
from margrave.cli.shape import Verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.cli.api import Api
    from margrave.cli.doctor import Check
    from margrave.cli.output import Output

CONFIG = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Verb)
@click.option("--config", type=CONFIG, help="the runner's configuration; ./margrave.toml if any")
@shows
@calls
def doctor(api: Api, out: Output, config: Path | None) -> Exit:
    """Look at this machine, the controller, the fleet, and the runner here if there is one.

    Nothing is changed. The exit code is 1 when something is wrong.
    """
    found = list(_looks(api, config))
    items = [one.as_dict() for one in found]
    out.list({"items": items, "next": None}, tables.LOOKS)
    ills = sum(not one.ok for one in found)
    out.say(f"\n{ills} of {len(found)} checks found something wrong" if ills else "\nall is well")
    return Exit.FAILED if ills else Exit.DONE


def _looks(api: Api, config: Path | None) -> Iterator[Check]:
    from margrave.cli import runner_socket
    from margrave.cli.doctor import controller, machine, runner

    yield from machine.look(Path.cwd())
    yield from controller.look(api)
    place = runner_socket.configured(config)
    if place is not None and runner_socket.is_runners(place):
        yield from runner.look(partial(runner_socket.connect_to, place))
