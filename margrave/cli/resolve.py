"""What an operator calls a thing, made into the thing: ids, their beginnings, and names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from margrave.cli.exits import Problem
from margrave.cli.paths import at
from margrave.errors import NotFound
from margrave.findings import nearest
from margrave.terminal.asking import Misuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from margrave.cli.api import Api

UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# Deployments among which the nearest name is looked for: many sites have few names.
ASKED = 1000
BEGINNING = r"[0-9a-fA-F-]{1,35}"


def deployments(
    api: Api, wanted: str, sites: Sequence[str] = (), *, deleted: bool = False
) -> list[dict[str, Any]]:
    """The deployments meant: by id or its beginning, or all of that name; else NotFound.

    With `deleted` those that are gone are found too, when none that lives is meant.
    """
    if re.fullmatch(UUID, wanted):
        return _within(_by_id(api, wanted.lower(), sites), sites, wanted)
    for state in (None, "DELETED") if deleted else (None,):
        named = api.items(at("deployments"), name=wanted, state=state)
        if not named and re.fullmatch(BEGINNING, wanted):
            named = _beginning(api, wanted, state)
        if named:
            return _within(named, sites, wanted)
    if not deleted and api.page(at("deployments"), 1, name=wanted, state="DELETED")["items"]:
        cure = f"what became of it: margrave deployment history {wanted}"
        raise NotFound(f"{wanted!r} was deleted", cure)
    cure = nearest(wanted, _names(api)) or "margrave deployment list"
    raise NotFound(f"no deployment is called {wanted!r}", cure)


def _names(api: Api) -> set[str]:
    return {str(one["name"]) for one in api.page(at("deployments"), ASKED)["items"]}


def _by_id(api: Api, wanted: str, sites: Sequence[str]) -> list[dict[str, Any]]:
    """All that live under the id, for it may stand at several sites; else the one that is gone."""
    alive = [one for one in api.items(at("deployments"), q=wanted) if one["id"] == wanted]
    if alive:
        return alive
    try:
        return [api.get(at("deployments", wanted), site=sites[0] if len(sites) == 1 else None)]
    except Problem as problem:
        if problem.status != 404:
            raise
        raise NotFound(f"no deployment has the id {wanted}", "margrave deployment list") from None


def _beginning(api: Api, wanted: str, state: str | None) -> list[dict[str, Any]]:
    listed = api.items(at("deployments"), state=state, q=wanted.lower())
    found = [one for one in listed if str(one["id"]).startswith(wanted.lower())]
    if len({str(one["id"]) for one in found}) > 1:
        ids = ", ".join(str(one["id"]) for one in found[:5])
        raise Misuse(f"{wanted!r} begins several ids: {ids}", "write more of it")
    return found


def _within(found: list[dict[str, Any]], sites: Sequence[str], wanted: str) -> list[dict[str, Any]]:
    if not sites:
        return found
    kept = [one for one in found if one["site"] in sites]
    missing = sorted(set(sites) - {str(one["site"]) for one in kept})
    if missing:
        raise NotFound(
            f"{wanted!r} is not deployed at {', '.join(missing)}", "see margrave deployment list"
        )
    return kept


def node(api: Api, wanted: str, site: str | None = None) -> dict[str, Any]:
    """A node by `<site>/<node>`, or by its name where that is unambiguous."""
    before, slash, name = wanted.rpartition("/")
    site = before if slash else site
    known = [one for one in api.items(at("nodes")) if site in (None, one["site"])]
    found = [one for one in known if one["name"] == name]
    if not found:
        cure = nearest(name, {str(one["name"]) for one in known}) or "margrave node list"
        raise NotFound(f"no node is called {wanted!r}", cure)
    if len(found) > 1:
        names = ", ".join(f"{one['site']}/{one['name']}" for one in found)
        raise Misuse(f"{wanted!r} may be {names}", "write <site>/<node>")
    return found[0]
