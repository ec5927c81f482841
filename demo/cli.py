"""`margrave demo up | down | status`."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from demo.places import SMALLEST, DemoError, here
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demo.memory import Memory
    from demo.places import Places
    from margrave.terminal.output import Output


@click.group(cls=Noun)
def demo() -> None:
    """Nodes, controller and runners on this machine, an application on them."""


@demo.command()
@click.option(
    "--nodes", type=click.IntRange(min=len(SMALLEST)), help="so many nodes, spread over the sites"
)
@click.option("--fresh", is_flag=True, help="remove what is there and begin anew")
@shows
def up(out: Output, nodes: int | None, fresh: bool) -> None:
    """Start the demo; what runs already is left alone, what died is started again."""
    from demo.down import down as remove
    from demo.progress import Progress
    from demo.status import status as look
    from demo.up import Demo

    places = here()
    progress = Progress(click.echo if out.for_eyes else partial(click.echo, err=True))
    with _alone(places):
        if fresh:
            remove(places, progress)
        running = Demo(places, progress)
        running.up(nodes)
    if out.for_eyes:
        _farewell(places, running.memory, progress.seconds)
    else:
        out.answer(look(places))


def _farewell(places: Places, memory: Memory, seconds: float) -> None:
    from shlex import quote

    from demo.configuration import URL

    command = _typed(places)
    click.echo(
        f"""
The demo runs ({seconds:.0f} s). Look at {URL}/ and sign in as {memory.user} with {memory.password}

Then let the shell know the controller, and try:

  set -a; . {quote(str(places.env))}; set +a
  {command} deploy storefront@1.1.0 --site harbor --site depot --set greeting=ahoy --wait
  {command} deployment update storefront --version 1.2.0 --wait    # never healthy: goes back
  {command} deployment delete storefront --yes --wait

{command} deployment watch storefront shows it happening; {command} demo down removes all of it."""
    )


def _typed(places: Places) -> str:
    from shlex import quote
    from shutil import which

    command = str(places.command)
    return "margrave" if which("margrave") == command else quote(command)


@demo.command()
@asks
@shows
def down(out: Output, yes: bool) -> None:
    """Remove the demo: processes, nodes, disks and folder."""
    from demo.down import down as remove
    from demo.progress import Progress

    places = here()
    confirm("Remove the demo with everything in it?", yes=yes)
    with _alone(places):
        remove(places, Progress(click.echo if out.for_eyes else partial(click.echo, err=True)))
    if not out.for_eyes:
        out.answer({"name": "demo"})


@demo.command()
@shows
def status(out: Output) -> None:
    """Which parts live, and where they answer."""
    from demo.status import status as look

    found = look(here())
    if not out.for_eyes:
        out.answer(found)
        return
    for name, url, pid in _lines(found):
        click.echo(f"{name:<20}  {url:<28}  {pid}")


def _lines(found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    def life(part: dict[str, Any]) -> str:
        return f"pid {part['pid']}" if part["pid"] else "not running"

    yield "controller", found["controller"]["url"], life(found["controller"])
    for runner in found["runners"]:
        yield f"runner {runner['site']}", runner["url"], life(runner)
    for node in found["nodes"]:
        yield f"node {node['name']}", node["address"], node["state"]


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    """Two at once would start everything twice."""
    path = places.base.parent / "demo.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DemoError("another `margrave demo` is at work here", "wait for it") from error
        yield
