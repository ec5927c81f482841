# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bringing deployments to what a task says. Private: nobody else should import this.

Whether something changes, and what speaks against it, is asked of the controller's own plan: check
mode and the real run cannot differ.
"""

from __future__ import annotations

import uuid
from functools import partial

from ansible_collections.margrave.edge.plugins.module_utils._controller import (
    Controller,
    ControllerError,
    at,
)
from ansible_collections.margrave.edge.plugins.module_utils._controller_wait import (
    Follower,
    failures,
    published,
    until,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import changing, field

POLICIES = (
    "placement",
    "strategy",
    "failure",
    "health",
    "drift",
    "windows",
    "requires",
    "priority",
    "reason",
)


@changing
class Step:
    """One request: where it is sent, what it says, and the deployments it concerns."""

    path: str
    body: dict
    ids: list[str] = field(factory=list)
    answer: dict = field(factory=dict)


def targets(controller: Controller, params: dict) -> dict[str, list[str]]:
    """The sites that are meant, each with the nodes that are named (none: as placed)."""
    if params["nodes"]:
        chosen: dict[str, list[str]] = {}
        for name in params["nodes"]:
            site, slash, node = name.partition("/")
            if not (site and slash and node):
                raise ControllerError(f'nodes: "{name}" names no node', "write SITE/NODE")
            chosen.setdefault(site, []).append(node)
        return chosen
    if params["site_labels"]:
        wanted = {key: str(value) for key, value in params["site_labels"].items()}
        found = [
            site["name"]
            for site in controller.items(at("sites"))
            if wanted.items() <= site["labels"].items()
        ]
        if not found:
            raise ControllerError(
                f"site_labels: no site has {wanted}", "see the labels with margrave site list"
            )
        return {site: [] for site in found}
    return {site: [] for site in params["sites"]}


def standing(controller: Controller, name: str, sites: dict, timeout: float) -> dict[str, dict]:
    """The deployments of that name by site, none of them still on its way into Git."""
    found = {}
    for one in controller.items(at("deployments"), name=name):
        if one["site"] not in sites:
            continue
        found[one["site"]] = one
        if one["request"] and not one["commit"]:
            published(controller, one["request"], timeout)
            found[one["site"]] = controller.get(at("deployments", one["id"]))
    return found


def wanted(params: dict, sites: dict[str, list[str]], there: dict[str, dict]) -> list[Step]:
    """The requests that bring it about: creating where it lacks, updating where it is."""
    for one in there.values():
        if one["app"] != params["app"]:
            raise ControllerError(
                f"{one['name']} at {one['site']} is {one['app']}, not {params['app']}",
                "give it another name, or delete that one first",
            )
    lacking = {site: nodes for site, nodes in sites.items() if site not in there}
    steps = [_creation(params, lacking)] if lacking else []
    if params["nodes"] or params["reset_parameters"]:
        return steps + [_update(params, [one], sites[site]) for site, one in sorted(there.items())]
    return steps + ([_update(params, list(there.values()), [])] if there else [])


def _creation(params: dict, lacking: dict[str, list[str]]) -> Step:
    if params["nodes"]:
        named = [f"{site}/{node}" for site, nodes in lacking.items() for node in nodes]
        where: dict = {"nodes": named}
    else:
        where = {"sites": sorted(lacking)}
    body = {"app": params["app"], "name": params["name"], "targets": where, **_said(params)}
    return Step(at("deployments"), body)


def _update(params: dict, there: list[dict], nodes: list[str]) -> Step:
    body = {"action": "update", **_said(params)}
    if params["reset_parameters"]:
        gone = {name: None for one in there for name in one["parameters"] or {}}
        body["parameters"] = {**gone, **body.get("parameters", {})}
    if nodes:
        body["placement"] = {**body.get("placement", {}), "nodes": sorted(set(nodes))}
    ids = [one["id"] for one in there]
    return Step(at("deployments", "actions"), {**body, "select": {"ids": ids}}, ids)


def removal(there: dict[str, dict]) -> list[Step]:
    """The request that takes them away; one that is leaving already needs none."""
    ids = [one["id"] for one in there.values() if one["in_git"]]
    body = {"action": "delete", "select": {"ids": ids}}
    return [Step(at("deployments", "actions"), body, ids)] if ids else []


def _said(params: dict) -> dict:
    """What the task says of the deployment; what it leaves out is not sent."""
    names = ("version", "profile", "parameters", *POLICIES)
    return {name: params[name] for name in names if params[name] is not None}


def planned(controller: Controller, steps: list[Step]) -> list[dict]:
    """What would happen at each site; steps that would do nothing are taken off the list."""
    shown = []
    for step in list(steps):
        plan = controller.send("POST", at("plans"), step.body)["plan"]
        errors = [one for one in plan["findings"] if one.get("severity", "error") == "error"]
        if errors:
            told = "; ".join(_finding(one) for one in errors)
            raise ControllerError(f"this cannot be done: {told}", "", 422, errors)
        shown += plan["sites"]
        if step.ids:
            moved = {one["deployment"] for one in plan["sites"] if one["changes"]}
            step.ids = [one for one in step.ids if one in moved]
            step.body["select"] = {"ids": step.ids}
            if not step.ids:
                steps.remove(step)
    return shown


def _finding(one: dict) -> str:
    words = f"{one.get('pointer', '')} {one.get('message') or one.get('detail') or ''}".strip()
    return words + (f" ({one['cure']})" if one.get("cure") else "")


def send(controller: Controller, steps: list[Step], timeout: float) -> None:
    """Ask for it, until it stands in Git: a task that answers before could not say that it will.

    Each request is taken once, however often it has to be sent.
    """
    for step in steps:
        step.answer = controller.send("POST", step.path, step.body, key=str(uuid.uuid4()))
        step.ids = [one["id"] for one in step.answer["deployments"]]
    for step in steps:
        step.answer = published(controller, step.answer["id"], timeout)


def follow(
    controller: Controller, steps: list[Step], there: dict[str, dict], timeout: float, going: bool
) -> list[dict]:
    """The deployments as they ended; ControllerError when one of them did not come there."""
    asked = {ident for step in steps for ident in step.ids}
    rest = [one["id"] for one in there.values() if one["id"] not in asked]
    ends: dict[str, dict] = {}
    for ids, request in [*((step.ids, step.answer) for step in steps), (rest, None)]:
        follower = Follower(controller, request, going)
        try:
            until(partial(follower.all_ended, ids), timeout, lambda: "")
        except ControllerError as error:
            words = error.message + follower.standing
            raise ControllerError(words, "margrave deployment explain tells more") from error
        ends.update(follower.ends)
    bad = failures(list(ends.values()))
    if bad:
        raise ControllerError("; ".join(bad), "margrave deployment explain tells more")
    return [ends[one] for one in sorted(ends, key=lambda ident: ends[ident]["site"])]
