"""`margrave runner …`: serve the site, or speak with the runner of this machine by its socket."""

from __future__ import annotations

import getpass
import json
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from margrave import durations, settings_file
from runner import settings
from runner.socket_client import SOCKET, ask

config_option = click.option(
    "--config", metavar="FILE", help="The configuration; ./margrave.toml when left out."
)
format_option = click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)


@click.group()
def runner() -> None:
    """The site runner of this machine."""


@runner.command()
@config_option
@click.option("--verbose", is_flag=True, help="Say more.")
def serve(config: str | None, verbose: bool) -> None:
    """Keep the site right until stopped."""
    # First of all: the library that runs git starts one as soon as it is imported.
    loaded = settings.load(settings.find(config))
    settings_file.forget(os.environ)
    # httpx has a command of its own, with a library for terminals: three megabytes that nobody asks
    # for here. It does without them where they are missing.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    # Here, because Ansible, Flask and the database are not needed to ask for a status.
    from runner.serve import serve as run

    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    run(loaded)


@runner.command()
@config_option
@format_option
def once(config: str | None, output: str) -> None:
    """Look at Git now and work until nothing is due."""
    _show(_ask(config, "POST", "/once", {}), output)


@runner.command()
@config_option
@format_option
def status(config: str | None, output: str) -> None:
    """What the runner knows and does."""
    found = _ask(config, "GET", "/status")
    if output == "json":
        _show(found, output)
    else:
        _tell(found)


@runner.command()
@config_option
@click.option("--reason", required=True, help="Why; shown wherever the site is shown.")
@click.option("--owner", default=getpass.getuser, help="Who; the user when left out.")
@click.option("--for", "duration", metavar="DURATION", help="How long, such as 2h.")
def lock(config: str | None, reason: str, owner: str, duration: str | None) -> None:
    """Start nothing new at this site."""
    until = None
    if duration:
        ends = datetime.now(UTC) + timedelta(seconds=durations.seconds(duration))
        until = ends.isoformat(timespec="seconds")
    _ask(config, "POST", "/lock", {"owner": owner, "reason": reason, "until": until})
    click.echo(f"locked{f' until {until}' if until else ''}: {reason}")


@runner.command()
@config_option
def unlock(config: str | None) -> None:
    """Go on after a lock."""
    _ask(config, "POST", "/unlock", {})
    click.echo("unlocked")


@runner.command()
@config_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def takeover(config: str | None, yes: bool) -> None:
    """Claim the site's nodes from another runner."""
    if not yes:
        click.confirm("Is the other runner stopped for good?", abort=True)
    found = _ask(config, "POST", "/takeover", {})
    click.echo(f"this runner holds the site now, with epoch {found['epoch']}")


@runner.command()
@config_option
@click.option("--commit", required=True, metavar="SHA", help="The commit that is meant.")
def accept(config: str | None, commit: str) -> None:
    """Take a history that was rewritten."""
    _ask(config, "POST", "/accept", {"commit": commit})
    click.echo(f"accepted {commit}")


@runner.command()
@config_option
@click.argument("node")
@click.option("--rotate", is_flag=True, help="Make a new key; the old one counts until it is used.")
def beacon(config: str | None, node: str, rotate: bool) -> None:
    """Print what belongs into NODE's /etc/margrave/beacon.json. It holds a key."""
    click.echo(
        json.dumps(_ask(config, "POST", f"/nodes/{node}/beacon", {"rotate": rotate}), indent=2)
    )


def _ask(
    config: str | None, method: str, what: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    loaded = settings.load(settings.find(config))
    return ask(loaded.state.dir / SOCKET, method, what, body)


def _show(value: Mapping[str, Any], output: str) -> None:
    if output == "json":
        click.echo(json.dumps(value))
        return
    for key, one in value.items():
        click.echo(f"{key}: {one}")


def _tell(found: Mapping[str, Any]) -> None:
    site = found["site"]
    click.echo(f"site {site['name']} at {(site['applied_commit'] or 'no commit yet')[:12]}")
    for word in ("halted", "locked"):
        if site[word]:
            click.echo(f"{word}: {site[word]['reason']}")
    if site["stood_down"]:
        click.echo(f"stood down: {site['stood_down']}")
    controller = found["controller"]
    waiting = f"{controller['reports_waiting']} reports wait"
    click.echo(f"controller: {controller['trouble'] or 'reached'}, {waiting}")
    for node in found["nodes"]:
        click.echo(
            f"node {node['name']} {node['address']} {node['status']} {node['error']}".rstrip()
        )
    for one in found["placements"]:
        told = f"{one['state']} {one['outcome']} {one['version'] or ''}".rstrip()
        told += " when last seen" if one["freshness"] == "unknown" else ""
        waits = f", waits for {one['waiting']['for']}" if one["waiting"] else ""
        click.echo(f"{one['name']} on {one['node']}: {told}{waits}")
