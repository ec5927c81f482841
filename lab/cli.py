"""`margrave lab …`: make, look into, break, heal and remove labs."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lab import kubernetes
from lab import ssh as way
from lab.commands import environment
from lab.engines import Engine
from lab.faults import FAULTS, Fault
from lab.fleet import Lab, all_labs
from lab.names import only_one
from margrave.errors import NotFound
from margrave.terminal.asking import asks, confirm
from margrave.terminal.cells import pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.node import Node
    from margrave.terminal.output import Output

COLUMNS = pick("name", "address", "state", "engine", "lab")
DEFAULT = "default"
name_option = click.option("--name", metavar="LAB", help="the lab; its nodes tell it otherwise")


@click.group(cls=Noun)
def lab() -> None:
    """Real edge nodes on this machine, to try things on and to break."""


@lab.command()
@click.option("--name", metavar="LAB", default=DEFAULT, show_default=True)
@click.option("--nodes", type=click.IntRange(1, 240), metavar="N", help="so many; 3 for a new lab")
@click.option("--node", "named", multiple=True, metavar="NAME", help="a node of this name; repeat")
@click.option(
    "--engine",
    type=click.Choice([one.value for one in Engine]),
    help="the engine of new nodes, podman unless said; call again for nodes with another",
)
@shows
def up(
    out: Output, name: str, nodes: int | None, named: tuple[str, ...], engine: str | None
) -> None:
    """Make a lab, or start again what has stopped in it."""
    started = time.monotonic()
    made = Lab(name)

    def tell(text: str) -> None:
        click.echo(f"==> {text}", err=True)

    there = made.up(named, count=nodes, engine=Engine(engine) if engine else None, progress=tell)
    for node in there:
        if node.engine is Engine.KUBERNETES:
            kubernetes.install(made, node.name, tell)
    _show(out, made.nodes())
    click.echo(f"Lab {name} is up ({time.monotonic() - started:.1f} s).", err=True)
    click.echo(
        f"Registry: {made.registry_address}. Try: margrave lab ssh {made.nodes()[0].name}", err=True
    )


@lab.command()
@click.option("--name", metavar="LAB", default=DEFAULT, show_default=True)
@asks
@shows
def down(out: Output, name: str, yes: bool) -> None:
    """Remove a lab with everything in it."""
    doomed = Lab(name)
    confirm(f"Remove lab {name}, its nodes and their disks?", yes=yes)
    text = f"Lab {name} is removed." if doomed.down() else f"There is no lab {name}."
    out.done(text, {"name": name})


@lab.command("list")
@name_option
@shows
def list_nodes(out: Output, name: str | None) -> None:
    """Show the nodes of all labs, or of one."""
    labs = [Lab(name)] if name else all_labs()
    if name and not labs[0].exists:
        raise NotFound(f'no lab "{name}" here', f"make it: margrave lab up --name {name}")
    _show(out, [node for one in labs for node in one.nodes()])


@lab.command(context_settings={"ignore_unknown_options": True})
@name_option
@click.argument("node")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def ssh(name: str | None, node: str, command: tuple[str, ...]) -> NoReturn:
    """Log in to a node as root, or run COMMAND there; its output and exit status are yours.

    One word is shell text ("podman ps | wc -l"); several arrive as the words they are.
    """
    words = _lab_of(node, name).ssh_command(node)
    if command:
        words.append(way.remote_words(command))
    sys.stdout.flush()
    os.execvpe(words[0], words, environment())  # noqa: S606 - ssh takes our place on purpose


def fault_options(command: Any) -> Any:
    """One flag per fault, told in the words of the table of faults."""
    for fault, deed in reversed(list(FAULTS.items())):
        command = click.option(f"--{fault}", is_flag=True, help=deed.meaning)(command)
    return command


@lab.command()
@name_option
@click.argument("node")
@fault_options
@shows
def fail(out: Output, name: str | None, node: str, **flags: bool) -> None:
    """Break a node in one or several ways."""
    if not any(flags.values()):
        raise click.UsageError(f"say how: {', '.join(f'--{one}' for one in Fault)}")
    _lab_of(node, name).fail(node, **flags)
    told = [fault for fault, on in flags.items() if on]
    out.done(f"{node}: {', '.join(told)}", {"name": node, "faults": told})


@lab.command()
@name_option
@click.argument("node")
@shows
def heal(out: Output, name: str | None, node: str) -> None:
    """Undo all that was done to a node; start it if it is off."""
    _lab_of(node, name).heal(node)
    out.done(f"{node} is whole again", {"name": node})


def _lab_of(node: str, name: str | None) -> Lab:
    if name:
        return Lab(name)
    found = [one.name for one in all_labs() if any(node == known.name for known in one.nodes())]
    if not found:
        raise NotFound(f'no lab has a node "{node}"', "see: margrave lab list")
    return Lab(only_one(node, found))


def _show(out: Output, nodes: Sequence[Node]) -> None:
    rows = [{key: str(value) for key, value in asdict(node).items()} for node in nodes]
    if out.for_eyes:
        out.rows(COLUMNS, rows, "no lab here: margrave lab up")
    else:
        out.answer(rows)
