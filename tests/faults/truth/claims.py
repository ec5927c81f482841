"""Claims of the API, the command and the pages, in a common form."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import httpx

from tests.faults.truth.tables import Row, rows_of
from tests.faults.truth.world import APPLICATION, World

Fields = Mapping[str, str]
LIMIT: Final = 10.0
NOTHING: Final = "\N{EN DASH}"  # what a page shows where there is no value


class Kind(StrEnum):
    """The subject of a claim."""

    SITE = "site"
    NODE = "node"
    DEPLOYMENT = "deployment"
    PLACEMENT = "placement"


@dataclass(frozen=True)
class Claim:
    """The fields that a channel shows of one subject."""

    kind: Kind
    site: str
    fields: Fields
    node: str = ""
    deployment: str = ""

    @property
    def subject(self) -> str:
        """Return the name of the subject."""
        return " ".join(word for word in (self.site, self.node, self.deployment[:8]) if word)


@dataclass(frozen=True)
class Look:
    """All claims of one channel at one time."""

    channel: str
    at: float
    claims: tuple[Claim, ...]
    lag: float = 0.0


@dataclass(frozen=True)
class Channel:
    """A way to read claims; `read` returns None where nothing is claimed."""

    name: str
    read: Callable[[World], Iterable[Claim] | None]
    lag: float = 0.0  # seconds by which it follows the API

    def look(self, world: World) -> Look | None:
        """Read the claims now."""
        at = time.time()
        claims = self.read(world)
        return None if claims is None else Look(self.name, at, tuple(claims), self.lag)


SHOWN: Final = {
    Kind.SITE: ("freshness", "last_seen", "applied_commit", "wanted_commit", "behind"),
    Kind.NODE: ("status", "last_seen"),
    Kind.DEPLOYMENT: ("state", "outcome", "freshness", "version"),
    Kind.PLACEMENT: ("state", "outcome", "freshness", "version", "health"),
}


def _claim(kind: Kind, item: Mapping[str, Any]) -> Claim:
    fields = {name: str(item[name]) for name in SHOWN[kind] if item.get(name) is not None}
    site = str(item["name"] if kind is Kind.SITE else item["site"])
    node = {Kind.NODE: "name", Kind.PLACEMENT: "node"}.get(kind)
    deployment = {Kind.DEPLOYMENT: "id", Kind.PLACEMENT: "deployment"}.get(kind)
    return Claim(
        kind,
        site,
        fields,
        str(item[node]) if node else "",
        str(item[deployment]) if deployment else "",
    )


def _newest(placements: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    in_order = sorted(placements, key=lambda placement: placement["incarnation"])
    by_node = {placement["node"]: placement for placement in in_order}
    return list(by_node.values())


def read_api(world: World) -> list[Claim] | None:
    """Read sites, nodes, deployments and placements from the API."""
    try:
        with world.controller.api as api:
            api.timeout = httpx.Timeout(LIMIT)
            lists = {kind: _items(api, path) for kind, path in LISTS.items()}
            lists[Kind.PLACEMENT] = [
                placement
                for deployment in lists[Kind.DEPLOYMENT]
                for placement in _placements(api, deployment["id"])
            ]
            lists[Kind.DEPLOYMENT] += _items(api, "/deployments?state=DELETED")
    except httpx.HTTPError:
        return None
    return [_claim(kind, item) for kind, items in lists.items() for item in items]


LISTS: Final = {Kind.SITE: "/sites", Kind.NODE: "/nodes", Kind.DEPLOYMENT: "/deployments"}


def _placements(api: httpx.Client, deployment: str) -> list[Mapping[str, Any]]:
    return _newest(_items(api, f"/deployments/{deployment}/placements"))


def _items(api: httpx.Client, path: str) -> list[Mapping[str, Any]]:
    joint = "&" if "?" in path else "?"
    answer = api.get(f"{path}{joint}limit=200")
    # A deployment that was listed a moment ago may be gone.
    if answer.status_code == httpx.codes.NOT_FOUND:
        return []
    items: list[Mapping[str, Any]] = answer.raise_for_status().json()["items"]
    return items


def _read_command(kind: Kind, *words: str) -> Callable[[World], list[Claim] | None]:
    def read(world: World) -> list[Claim] | None:
        ran = world.margrave(*words, "-o", "json", limit=LIMIT)
        if ran.code != 0:
            return None
        return [_claim(kind, item) for item in json.loads(ran.output)["items"]]

    return read


def read_show(world: World) -> list[Claim] | None:
    """Read `margrave deployment show`: a deployment, or several of one name, with placements."""
    ran = world.margrave("deployment", "show", APPLICATION, "-o", "json", limit=LIMIT)
    if ran.code != 0:
        return None
    shown = json.loads(ran.output)
    deployments = shown.get("items", [shown]) if isinstance(shown, dict) else shown
    claims = [_claim(Kind.DEPLOYMENT, deployment) for deployment in deployments]
    for deployment in deployments:
        claims += [_claim(Kind.PLACEMENT, item) for item in _newest(deployment["placements"])]
    return claims


def _read_page(path: str) -> Callable[[World], list[Claim] | None]:
    def read(world: World) -> list[Claim] | None:
        text = fetch(world, path)
        return None if text is None else [ROWS[path](row) for row in rows_of(text)]

    return read


def fetch(world: World, path: str) -> str | None:
    """Return the HTML of a page; None where it does not answer."""
    headers = {"Authorization": f"Bearer {world.controller.token}"}
    try:
        answer = httpx.get(world.controller.url + path, headers=headers, timeout=LIMIT)
        return answer.raise_for_status().text
    except httpx.HTTPError:
        return None


def _site_row(row: Row) -> Claim:
    shown = {
        "freshness": row.badge("Freshness"),
        "last_seen": row.time("Heard of"),
        "applied_commit": row.title("Applied"),
    }
    return Claim(Kind.SITE, row.text("Site"), _present(shown))


def _node_row(row: Row) -> Claim:
    shown = {"status": row.badge("Status"), "last_seen": row.time("Last answer")}
    return Claim(Kind.NODE, row.text("Site"), _present(shown), node=row.text("Node"))


def _deployment_row(row: Row) -> Claim:
    shown = {
        "state": row.badge("State"),
        "outcome": row.badge("Outcome"),
        "version": row.text("Version"),
        "freshness": "unknown" if row.is_marked("unknown") else "fresh",
    }
    deployment = row.link("Name").partition("?")[0].rpartition("/")[2]
    return Claim(Kind.DEPLOYMENT, row.text("Site"), _present(shown), deployment=deployment)


def read_placements_page(world: World) -> list[Claim] | None:
    """Read the nodes on the page of each deployment."""
    listed = fetch(world, "/deployments")
    if listed is None:
        return None
    links = {row.link("Name") for row in rows_of(listed)}
    claims: list[Claim] = []
    for link in sorted(links):
        text = fetch(world, link)
        if text is None:
            return None
        deployment = link.partition("?")[0].rpartition("/")[2]
        claims += [_placement_row(row, deployment) for row in rows_of(text) if "Runs" in row.cells]
    return claims


def _placement_row(row: Row, deployment: str) -> Claim:
    place = re.match(r"/sites/([^/]+)/nodes/([^/]+)", row.link("Node"))
    assert place, "a placement links to its node"
    shown = {
        "state": row.badge("State"),
        "outcome": row.badge("Outcome"),
        "version": row.text("Runs").split()[0],
        "health": row.text("Health").partition(",")[0],
        "freshness": "unknown" if row.is_marked("unknown") else "fresh",
    }
    return Claim(Kind.PLACEMENT, place[1], _present(shown), place[2], deployment)


def _present(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value and value != NOTHING}


API: Final = Channel("API", read_api)
# Read in turn: each is a request of several hundred milliseconds.
COMMANDS: Final = (
    Channel("margrave node list", _read_command(Kind.NODE, "node", "list")),
    Channel("margrave deployment show", read_show),
    Channel("margrave site list", _read_command(Kind.SITE, "site", "list")),
    Channel("margrave deployment list", _read_command(Kind.DEPLOYMENT, "deployment", "list")),
)
ROWS: Final[Mapping[str, Callable[[Row], Claim]]] = {
    "/sites": _site_row,
    "/nodes": _node_row,
    "/deployments": _deployment_row,
}
PAGES: Final = (
    *(Channel(f"page {path}", _read_page(path)) for path in ROWS),
    Channel("page of a deployment", read_placements_page),
)
