"""`margrave doctor`: what is wrong here, and what mends it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from margrave.cli import contexts, tables
from margrave.cli.exits import Exit
from margrave.cli.options import connect
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.cli.doctor import Check
    from margrave.terminal.output import Output

CONFIG = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Verb)
@click.option("--config", type=CONFIG, help="the runner's configuration; ./margrave.toml if any")
@shows
@click.pass_context
def doctor(context: click.Context, out: Output, config: Path | None) -> Exit:
    """Look at this machine, the controller, the fleet, and the runner here if there is one.

    On a runner's machine where nobody has signed in, the controller is left to the runner.
    Nothing is changed. The exit code is 1 when something is wrong.
    """
    signed_in = contexts.is_chosen(context.meta.get(contexts.CONTEXT, ""))
    found = list(_looks(out, config, signed_in=signed_in))
    items = [one.as_dict() for one in found]
    out.list({"items": items, "next": None}, tables.LOOKS)
    ills = sum(not one.ok for one in found)
    out.say(f"\n{ills} of {len(found)} checks found something wrong" if ills else "\nall is well")
    return Exit.FAILED if ills else Exit.DONE


def _looks(out: Output, config: Path | None, *, signed_in: bool) -> Iterator[Check]:
    from margrave.cli import runner_socket
    from margrave.cli.doctor import controller, machine, runner

    place = runner_socket.configured(config)
    here = place is not None and runner_socket.is_runners(place)
    yield from machine.look(Path.cwd())
    if signed_in or not here:
        out.step("asking the controller")
        yield from controller.look(connect())
    if here:
        assert place is not None
        yield runner.configuration(place)
        out.step("asking the runner, and through it each node")
        yield from runner.look(partial(runner_socket.connect_to, place))
