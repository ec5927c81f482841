"""The runner of this machine, asked through its socket."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from margrave import settings_file
from margrave.cli.doctor.check import Check, bad, good, same_version
from margrave.cli.exits import Problem
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from margrave.cli.api import Api

WHERE = "runner"
# More than this wait when the controller has been away for long; that has a line of its own.
BACKLOG = 1000
# A node that is off takes as long as a connection is waited for; the others need not wait for it.
AT_ONCE = 8


def configuration(place: Path) -> Check:
    """Return whether the runner's file keeps its secrets from other users of the machine."""
    if exposed := settings_file.exposed(place):
        detail, _, cure = exposed.rpartition(": ")
        return bad(WHERE, "configuration", detail, cure)
    return good(WHERE, "configuration", str(place))


def look(connect: Callable[[], Api]) -> Iterator[Check]:
    """Whether it works, can reach what it needs, and whether its nodes answer."""
    try:
        api = connect()
        found = api.get("/status")
    except MargraveError as error:
        yield bad(WHERE, "answers", error.message, "systemctl status margrave-runner, or its log")
        return
    site = found["site"]
    yield good(WHERE, "answers", f"site {site['name']}")
    yield from _held(site, found.get("git") or {})
    yield _controller(found["controller"])
    if version := found.get("runner", {}).get("version"):
        yield same_version(WHERE, version)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for looks in pool.map(partial(_node, api), found["nodes"]):
            yield from looks


def _held(site: Mapping[str, Any], git: Mapping[str, Any]) -> Iterator[Check]:
    if site.get("halted"):
        cure = "mend it in Git, or: margrave runner accept --commit SHA"
        yield bad(WHERE, "desired state", f"halted: {site['halted']['reason']}", cure)
    elif site.get("applied_commit"):
        yield good(WHERE, "desired state", f"commit {str(site['applied_commit'])[:12]}")
    else:
        reason = f": {git['reason']}" if git.get("reason") else ""
        yield bad(WHERE, "desired state", f"nothing was read from Git yet{reason}", "check [git]")
    if site.get("locked"):
        yield bad(WHERE, "lock", str(site["locked"].get("reason")), "margrave runner unlock")


def _controller(told: Mapping[str, Any]) -> Check:
    waiting = int(told.get("reports_waiting") or 0)
    if told.get("trouble"):
        detail = f"{told['trouble']}; {waiting} reports wait and will be sent"
        return bad(WHERE, "controller", detail, "mend what is named; the runner goes on by itself")
    if waiting > BACKLOG:
        return bad(WHERE, "controller", f"{waiting} reports wait", "it catches up; look again")
    return good(WHERE, "controller", f"reached; {waiting} reports wait")


def _node(api: Api, one: Mapping[str, Any]) -> list[Check]:
    """What the runner finds there now: the way in, engine, disk, clock."""
    try:
        found = api.get(f"/nodes/{one['name']}/checks")["items"]
    except MargraveError as error:
        if isinstance(error, Problem) and error.status == 404:
            return [_alive(one)]  # an older runner only knows whether it is there
        return [bad(f"node {one['name']}", "looked at", error.message, error.cure)]
    return [
        Check(f"node {one['name']}", each["name"], each["ok"], each["detail"], each["cure"])
        for each in found
    ]


def _alive(one: Mapping[str, Any]) -> Check:
    name = f"node {one['name']}"
    if one["status"] == "active":
        return good(WHERE, name, f"{one['address']} answers")
    cure = f"is it on? try: ssh {one['address']}; a new host key: margrave node add again"
    return bad(WHERE, name, f"{one['address']} is {one['status']}", cure)
