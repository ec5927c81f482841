"""`margrave runner …`: serve the site, or speak with the runner of this machine by its socket."""

from __future__ import annotations

import getpass
import json
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

import click

from margrave import settings_file
from margrave.sections import SOCKET
from margrave.terminal.asking import asks, confirm
from margrave.terminal.cells import field, pick
from margrave.terminal.options import Duration, configured, shows
from margrave.terminal.output import Output
from margrave.terminal.shape import Noun
from runner import settings
from runner.socket_client import ask

NODES: Final = (*pick("name", "address", "status"), ("WHY", field("error")))
PLACEMENTS: Final = (
    *pick("name", "node"),
    (
        "STATE",
        lambda one: one["state"] + (", when last seen" if one["freshness"] == "unknown" else ""),
    ),
    *pick("outcome", "version"),
    ("WHY", lambda one: one["waiting"] and f"waiting for {one['waiting']['for']}"),
)


@click.group(cls=Noun)
def runner() -> None:
    """The site runner of this machine."""


@runner.command()
@configured
@click.option("--verbose", is_flag=True, help="say more")
def serve(config: str | None, verbose: bool) -> None:
    """Keep the site right until stopped."""
    # First of all: the library that runs git starts one as soon as it is imported.
    path, given = settings.find(config), settings_file.ours(os.environ)
    loaded = settings.load(path, given)
    settings_file.forget(os.environ)
    # Here, because Ansible, Flask and the database are not needed to ask for a status.
    from runner.serve import serve as run

    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    run(loaded, lambda: settings.load(path, given), settings_file.exposed(path))


@runner.command()
@configured
@shows
def once(out: Output, config: str | None) -> None:
    """Look at Git now and work until nothing is due."""
    out.step("fetching, and working until nothing is due")
    found = _ask(config, "POST", "/once", {})
    if out.for_eyes:
        out.card(found, found)
    else:
        out.answer(found)


@runner.command()
@configured
@shows
def status(out: Output, config: str | None) -> None:
    """What the runner knows and does."""
    found = _ask(config, "GET", "/status")
    if out.for_eyes:
        _tell(out, found)
    else:
        out.answer(found)


@runner.command()
@configured
@click.option("--reason", required=True, help="why; shown wherever the site is shown")
@click.option("--owner", default=getpass.getuser, help="who; the user if not given")
@click.option("--for", "duration", type=Duration(), help="how long, such as 2h")
@shows
def lock(out: Output, config: str | None, reason: str, owner: str, duration: int | None) -> None:
    """Start nothing new at this site."""
    until = None
    if duration is not None:
        ends = datetime.now(UTC) + timedelta(seconds=duration)
        until = ends.isoformat(timespec="seconds")
    held = _ask(config, "POST", "/lock", {"owner": owner, "reason": reason, "until": until})
    out.done(f"locked{f' until {until}' if until else ''}: {reason}", held)


@runner.command()
@configured
@shows
def unlock(out: Output, config: str | None) -> None:
    """Go on after a lock."""
    out.done("unlocked", _ask(config, "POST", "/unlock", {}))


@runner.command()
@configured
@asks
@shows
def takeover(out: Output, config: str | None, yes: bool) -> None:
    """Claim the site's nodes from another runner."""
    confirm("Is the other runner stopped for good?", yes=yes)
    out.step("asking all nodes for the epoch that they know")
    found = _ask(config, "POST", "/takeover", {})
    out.done(f"this runner holds the site now, with epoch {found['epoch']}", found)


@runner.command()
@configured
@click.option("--commit", required=True, metavar="SHA", help="the commit that is meant")
@asks
@shows
def accept(out: Output, config: str | None, commit: str, yes: bool) -> None:
    """Take a history that was rewritten."""
    confirm(f"Go on from {commit}, whatever ran here before?", yes=yes)
    out.done(f"accepted {commit}", _ask(config, "POST", "/accept", {"commit": commit}))


@runner.command()
@configured
@click.argument("node")
@click.option("--rotate", is_flag=True, help="make a new key; the old one counts until it is used")
@shows
def beacon(out: Output, config: str | None, node: str, rotate: bool) -> None:
    """Print what belongs into NODE's /etc/margrave/beacon.json. It holds a key."""
    found = _ask(config, "POST", f"/nodes/{quote(node, safe='')}/beacon", {"rotate": rotate})
    out.done(json.dumps(found, indent=2), found)


def _ask(
    config: str | None, method: str, what: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    loaded = settings.load(settings.find(config))
    return ask(loaded.state.dir / SOCKET, method, what, body)


def _tell(out: Output, found: Mapping[str, Any]) -> None:
    site, controller = found["site"], found["controller"]
    held = {word: site[word]["reason"] for word in ("halted", "locked") if site[word]}
    held |= {"stood down": site["stood_down"]} if site["stood_down"] else {}
    told = {
        "site": site["name"],
        "commit": (site["applied_commit"] or "none yet")[:12],
        **held,
        "controller": controller["trouble"] or "reached",
        "reports waiting": str(controller["reports_waiting"]),
    }
    out.card(told, told)
    click.echo()
    out.rows(NODES, found["nodes"], "no nodes yet: margrave node add")
    if found["placements"]:
        click.echo()
        out.rows(PLACEMENTS, found["placements"])
