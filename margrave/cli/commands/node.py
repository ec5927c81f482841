"""`margrave node …`: edge nodes; `add` and `remove` go through the runner of this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from margrave.cli import changing, resolve, tables, watching
from margrave.cli.draining import confirm_drain
from margrave.cli.exits import Exit
from margrave.cli.options import calls, follows, in_site, labels, naming
from margrave.cli.paths import at
from margrave.errors import Refused
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output

FIELDS = (
    "site", "name", "address", "status", "reason", "drain", "last_seen", "labels",
    "capabilities.architecture", "capabilities.cpus", "capabilities.memory",
    "capabilities.engines", "capabilities.deployment_types",
)  # fmt: skip


@click.group(cls=Noun)
def node() -> None:
    """Edge nodes. NODE is a name, or <site>/<node> where the name alone is ambiguous."""


@node.command("list")
@in_site
@follows
@shows
@calls
def list_(api: Api, out: Output, site: str | None, follow: bool) -> None:
    """All nodes."""
    path = at("sites", site, "nodes") if site else at("nodes")

    def draw(out: Output, page: Any) -> None:
        out.list(page, tables.NODES, "no nodes yet: margrave node add, on the runner's machine")

    watching.show(api, out, lambda: api.page(path), draw, follow=follow, site=site)


@node.command()
@naming("nodes", "node")
@in_site
@follows
@shows
@calls
def show(api: Api, out: Output, node: str, site: str | None, follow: bool) -> None:
    """One node."""
    found = resolve.node(api, node, site)
    path = at("sites", found["site"], "nodes", found["name"])
    watching.show(api, out, lambda: api.get(path), _draw, follow=follow, site=found["site"])


def _draw(out: Output, found: Any) -> None:
    if out.for_eyes:
        out.card(found, FIELDS)
    else:
        out.answer(found)


@node.command()
@naming("nodes", "node")
@in_site
@asks
@shows
@calls
def drain(api: Api, out: Output, node: str, site: str | None, yes: bool) -> None:
    """Move or stop what runs there, and place nothing on it; what that would be is shown first."""
    found = resolve.node(api, node, site)
    confirm_drain(api, out, str(found["site"]), str(found["name"]), yes=yes)
    _drained(api, out, found, "drain", "is being drained")


@node.command()
@naming("nodes", "node")
@in_site
@shows
@calls
def undrain(api: Api, out: Output, node: str, site: str | None) -> None:
    """Let things be placed there again."""
    _drained(api, out, resolve.node(api, node, site), "undrain", "takes placements again")


def _drained(api: Api, out: Output, found: dict[str, Any], verb: str, text: str) -> None:
    answer = api.post(at("sites", found["site"], "nodes", found["name"], verb), {})
    out.done(changing.landed(f"{found['site']}/{found['name']} {text}", answer), answer)


CONFIG = click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="the runner's configuration; ./margrave.toml if not given",
)


@node.command()
@click.argument("name")
@click.argument("address")
@click.option("--site", required=True)
@click.option("--user", default="root", show_default=True, help="who may become root there")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="if not given, the runner's ssh.port (22)"
)
@click.option(
    "--identity",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="a private key that lets the user in; else a password is asked for",
)
@click.option("--password-stdin", is_flag=True, help="read the user's password")
@click.option(
    "--key-in-place", is_flag=True, help="the runner's key is on the node already: ask for nothing"
)
@click.option("--host-key", help="the fingerprint (SHA256:…) that the node must show")
@click.option("--replace", is_flag=True, help="the node of this name has moved to ADDRESS")
@labels
@CONFIG
@asks
@shows
def add(
    out: Output,
    name: str,
    address: str,
    site: str,
    user: str,
    port: int | None,
    identity: Path | None,
    password_stdin: bool,
    key_in_place: bool,
    host_key: str | None,
    replace: bool,
    labels: tuple[tuple[str, str], ...],
    config: Path | None,
    yes: bool,
) -> Exit:
    """Prepare the machine at ADDRESS as a node of the site, on the runner's machine.

    The host key is shown first and pinned; the login given here is used this once.
    """
    runner = _runner(config, site)
    place: dict[str, Any] = {"address": address} | ({"port": port} if port else {})
    if not replace:
        _refuse_move(runner, name, address)
    if host_key is None:
        out.step(f"asking {address} for its host key")
        host_key = str(runner.post("/nodes/probe", place)["host_key"])
        confirm(f"{address} shows the host key {host_key}\nIs that the one?", yes=yes)
    body: dict[str, Any] = {
        "name": name,
        **place,
        "login": {}
        if key_in_place
        else {"user": user, **_secret(user, identity, password_stdin=password_stdin)},
        "host_key": host_key,
    }
    body |= {"labels": dict(labels)} if labels else {}
    body |= {"replace": True} if replace else {}
    out.step(f"preparing {address}: its user, a key of ours, and a look at what it has")
    return _added(out, name, runner.post("/nodes", body))


def _runner(config: Path | None, site: str) -> Api:
    """The runner of this machine, if it is this site's."""
    from margrave.cli.runner_socket import connect

    runner = connect(config)
    found = _site_of(runner.get("/status"))
    if found not in (None, site):
        raise Refused(f"the runner here is {found}'s, not {site}'s", "name its --config")
    return runner


def _refuse_move(runner: Api, name: str, address: str) -> None:
    """Refuse to point a known name at another machine, before anybody types a password."""
    for known in runner.get("/status").get("nodes") or []:
        if known["name"] == name and known["address"] != address:
            raise Refused(
                f"{name} is at {known['address']} already",
                "take another name for a new machine; --replace when the node has moved:"
                " nobody manages the old machine then",
            )


def _site_of(status: Any) -> str | None:
    found = status.get("site") if isinstance(status, dict) else None
    name = found.get("name") if isinstance(found, dict) else found
    return str(name) if name else None


def _secret(user: str, identity: Path | None, *, password_stdin: bool) -> dict[str, str]:
    if identity is not None:
        return {"private_key": identity.read_text(encoding="utf-8")}
    stdin = sys.stdin
    if password_stdin or not stdin.isatty():
        line = stdin.readline().rstrip("\n")
        if not line:
            raise Refused(f"no way to sign in as {user}", "give --identity or --password-stdin")
        return {"password": line}
    return {"password": str(click.prompt(f"{user}'s password", hide_input=True, err=True))}


def _added(out: Output, name: str, answer: dict[str, Any]) -> Exit:
    checks = answer.get("checks") or []
    if out.for_eyes:
        unusable = answer.get("node", {}).get("status") == "unusable"
        but = "; it is unusable until it has what it lacks" if unusable else ""
        out.say(f"added {name}, host key {answer.get('host_key')}{but}")
        out.rows(tables.CHECKS, checks)
    else:
        out.answer(answer)
    return Exit.DONE if all(one.get("ok") for one in checks) else Exit.FAILED


@node.command()
@click.argument("name")
@click.option("--site", required=True)
@click.option("--forget", is_flag=True, help="also when something stands on it: it is gone")
@CONFIG
@asks
@shows
def remove(out: Output, name: str, site: str, forget: bool, config: Path | None, yes: bool) -> None:
    """Let the site's runner forget a node, on the runner's machine."""
    runner = _runner(config, site)
    confirm(f"Remove the node {name} from {site}?", yes=yes)
    params = {"forget": "true"} if forget else None
    runner.send("DELETE", f"/nodes/{quote(name, safe='')}", params=params)
    out.done(f"removed {name}", {"site": site, "name": name})
