# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for what a controller was asked for. Private: nobody else should import this."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Callable

from ansible_collections.margrave.edge.plugins.module_utils._controller import (
    Controller,
    ControllerError,
    at,
)

PERIOD = 0.5
# A failure counts when it stays: going back begins a moment after it. And the controller learns of
# its own commit within a moment; where a site's document stays as it was, it never shows there.
GRACE = 5.0
ENDED = ("succeeded", "failed", "rolled-back", "rollback-failed", "held")
LOST = ("refused", "cancelled", "failed")


def until(ended: Callable[[], object], timeout: float, what: Callable[[], str]) -> None:
    """Return when it has ended; ControllerError that says what was waited for when it has not."""
    deadline = time.monotonic() + timeout
    while not ended():
        if time.monotonic() + PERIOD > deadline:
            raise ControllerError(
                f"not within {timeout:g} s: waiting for {what()}",
                "raise wait_timeout, or look there",
            )
        time.sleep(PERIOD)


def published(controller: Controller, request: str, timeout: float) -> dict:
    """The request once it stands in Git; ControllerError when it never will."""
    found: dict = {}

    def ended() -> bool:
        found.update(controller.get(at("requests", request)))
        if found["state"] in LOST:
            error = found.get("error")
            told = error.get("message") if isinstance(error, dict) else error
            raise ControllerError(
                f"request {request} was {found['state']}" + (f": {told}" if told else ""),
                "margrave deployment explain tells more",
            )
        return found["state"] == "published"

    until(ended, timeout, lambda: f"request {request} to be published")
    return found


class Follower:
    """Follows deployments to their end, after the request that concerns them was published.

    `request` is None for deployments that nothing was asked for: they are judged as they stand.
    """

    def __init__(self, controller: Controller, request: dict | None, going: bool) -> None:
        self._controller = controller
        self._request = request
        self._going = going
        self._since = time.monotonic()
        self._failed: dict[str, float] = {}
        self.ends: dict[str, dict] = {}
        self.standing = ""

    def all_ended(self, ids: list[str]) -> bool:
        """Whether nothing more is to come of any of them."""
        for one in ids:
            if one not in self.ends:
                found = self._end(one)
                if found is not None:
                    self.ends[one] = found
        return len(self.ends) == len(ids)

    def _end(self, ident: str) -> dict | None:
        deployment = self._controller.get(at("deployments", ident))
        placements = newest(self._controller.items(at("deployments", ident, "placements")))
        self.standing = f"{deployment['name']} at {deployment['site']}, {deployment['state']}"
        if not placements:
            self.standing += " without a node"
        shown = {**deployment, "placements": placements}
        if deployment["state"] == "DELETED":
            return shown
        failed = any(one["state"] == "FAILED" for one in placements)
        if not (failed if self._going else settled(deployment, placements)):
            self._failed.pop(ident, None)
            return None
        if not self._knows(deployment) or (failed and not self._stayed(ident)):
            return None
        return shown

    def _knows(self, deployment: dict) -> bool:
        """Whether what is shown is that of this request already."""
        if self._request is None or deployment.get("request") == self._request["id"]:
            return True
        same = self._request.get("commit") in (None, deployment.get("commit"))
        return same or time.monotonic() - self._since > GRACE

    def _stayed(self, ident: str) -> bool:
        now = time.monotonic()
        return now - self._failed.setdefault(ident, now) >= GRACE


def newest(placements: Iterable[dict]) -> list:
    """The newest incarnation on each node that is not gone."""
    by_node: dict[str, dict] = {}
    for one in placements:
        known = by_node.get(one["node"])
        if known is None or one["incarnation"] >= known["incarnation"]:
            by_node[one["node"]] = one
    return [by_node[name] for name in sorted(by_node) if by_node[name]["state"] != "DELETED"]


def settled(deployment: dict, placements: list) -> bool:
    """Whether each placement has come to an end with the revision that is wanted."""
    return bool(placements) and all(
        one["wanted_revision"] == deployment["revision"]
        and one["outcome"] in ENDED
        and one["state"] in ("INSTALLED", "FAILED")
        for one in placements
    )


def failures(deployments: list) -> list:
    """A sentence for each placement that did not succeed."""
    found = []
    for one in deployments:
        for placement in one["placements"]:
            if one["state"] != "DELETED" and placement["outcome"] != "succeeded":
                error = placement.get("error") or {}
                why = error.get("message") or placement.get("reason") or placement["state"]
                found.append(f"{one['site']}/{placement['node']} {placement['outcome']}: {why}")
    return found
