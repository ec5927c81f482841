"""What of an answer somebody sees who is limited to some sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from controller.access.identity import Identity


def request(who: Identity, found: dict[str, Any]) -> dict[str, Any]:
    """A request without what it does at sites that are not theirs."""
    if who.sites is None:
        return found
    concerned = [one for one in found["deployments"] if who.sees(one["site"])]
    theirs = {**found, "deployments": concerned, "deployments_total": len(concerned)}
    return {**theirs, "plan": plan(who, found["plan"])} if "plan" in found else theirs


def plan(who: Identity, found: dict[str, Any] | None) -> dict[str, Any] | None:
    """A plan without the sites that are not theirs."""
    if who.sites is None or not found:
        return found
    return {**found, "sites": [one for one in found["sites"] if who.sees(one["site"])]}
