"""`margrave lab …`: make, look into, break, heal and remove labs."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console
from rich.table import Table

from lab import kubernetes
from lab import ssh as way
from lab.commands import environment
from lab.engines import Engine
from lab.faults import FAULTS, Fault
from lab.fleet import Lab, all_labs
from lab.names import only_one
from margrave.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT = "default"
name_option = click.option("--name", metavar="LAB", help="The lab; its nodes tell it otherwise.")


@click.group()
def lab() -> None:
    """Real edge nodes on this machine, to try things on and to break."""


@lab.command()
@click.option("--name", metavar="LAB", default=DEFAULT, show_default=True)
@click.option("--nodes", type=click.IntRange(1, 240), metavar="N", help="So many; 3 for a new lab.")
@click.option("--node", "named", multiple=True, metavar="NAME", help="A node of this name; repeat.")
@click.option(
    "--engine",
    type=click.Choice([one.value for one in Engine]),
    help="The engine of new nodes, podman unless said; call again for nodes with another.",
)
def up(name: str, nodes: int | None, named: tuple[str, ...], engine: str | None) -> None:
    """Make a lab, or start again what has stopped in it."""
    started = time.monotonic()
    made = Lab(name)

    def tell(text: str) -> None:
        click.echo(f"==> {text}", err=True)

    there = made.up(named, count=nodes, engine=Engine(engine) if engine else None, progress=tell)
    for node in there:
        if node.engine is Engine.KUBERNETES:
            kubernetes.install(made, node.name, tell)
    _show(made.nodes(), as_json=False)
    click.echo(f"Lab {name} is up ({time.monotonic() - started:.1f} s).", err=True)
    click.echo(
        f"Registry: {made.registry_address}. Try: margrave lab ssh {made.nodes()[0].name}", err=True
    )


@lab.command()
@click.option("--name", metavar="LAB", default=DEFAULT, show_default=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def down(name: str, yes: bool) -> None:
    """Remove a lab with everything in it."""
    doomed = Lab(name)
    if not yes:
        click.confirm(f"Remove lab {name}, its nodes and their disks?", abort=True)
    click.echo(f"Lab {name} is removed." if doomed.down() else f"There is no lab {name}.")


@lab.command("list")
@name_option
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table")
def list_nodes(name: str | None, output: str) -> None:
    """Show the nodes of all labs, or of one."""
    labs = [Lab(name)] if name else all_labs()
    if name and not labs[0].exists:
        raise NotFound(f'no lab "{name}" here', f"make it: margrave lab up --name {name}")
    _show([node for one in labs for node in one.nodes()], as_json=output == "json")


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
        command = click.option(f"--{fault}", is_flag=True, help=f"{deed.meaning.capitalize()}.")(
            command
        )
    return command


@lab.command()
@name_option
@click.argument("node")
@fault_options
def fail(name: str | None, node: str, **flags: bool) -> None:
    """Break a node in one or several ways."""
    if not any(flags.values()):
        raise click.UsageError(f"say how: {', '.join(f'--{one}' for one in Fault)}")
    _lab_of(node, name).fail(node, **flags)


@lab.command()
@name_option
@click.argument("node")
def heal(name: str | None, node: str) -> None:
    """Undo all that was done to a node; start it if it is off."""
    _lab_of(node, name).heal(node)


def _lab_of(node: str, name: str | None) -> Lab:
    if name:
        return Lab(name)
    found = [one.name for one in all_labs() if any(node == known.name for known in one.nodes())]
    if not found:
        raise NotFound(f'no lab has a node "{node}"', "see: margrave lab list")
    return Lab(only_one(node, found))


def _show(nodes: Sequence[Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(node) for node in nodes], indent=2))
        return
    table = Table("NAME", "ADDRESS", "STATE", "ENGINE", "LAB", box=None, header_style="bold")
    for node in nodes:
        table.add_row(node.name, node.address, node.state, node.engine, node.lab)
    Console().print(table)
