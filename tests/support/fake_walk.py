"""One install or update on a node of a small honest site, told step by step."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from margrave.documents.deployment import Deployment

if TYPE_CHECKING:
    from tests.support.fake_site import FakeSite

BROKEN = "1.2.0"
NEVER_HEALTHY = {
    "class": "health",
    "code": "unhealthy",
    "message": "web did not get healthy within 60 s",
    "cure": "read its log below, mend the release",
}


@dataclass
class Runs:
    """What a node has of a deployment."""

    revision: str
    version: str | None
    incarnation: int = 1


class Walk:
    """One install or update on one node, told step by step."""

    def __init__(
        self, site: FakeSite, node: str, one: Deployment, commit: str, runs: Runs | None
    ) -> None:
        self._site, self._one, self._runs, self._node = site, one, runs, node
        self._operation = str(uuid.uuid4())
        self._kind = "update" if runs else "install"
        self._commit = commit
        self._began = now()

    def go(self) -> bool:
        """Whether the wanted revision runs now."""
        self._site._cancelled.discard(self._one.id)  # of something that was over already
        busy = "UPDATING" if self._runs else "INSTALLING"
        if self._runs is None:
            self._place(None, "PENDING", "pending", "wanted here")
        self._place("INSTALLED" if self._runs else "PENDING", busy, "pending", "revision changed")
        self._tell("running", phase="prefetch")
        self._log("fetching the images", "images are there")
        self._tell("running", phase="health")
        self._log("switched, waiting for health")
        self._site.may_go_on.wait(120)
        cancelled = self._one.id in self._site._cancelled
        self._site._cancelled.discard(self._one.id)
        if self._one.version == BROKEN or cancelled:
            self._site.held.add((self._node, self._one.id, self._one.revision))
            return self._go_back(busy, cancelled=cancelled)
        self._log("healthy")
        self._runs = Runs(self._one.revision, self._one.version)
        self._place(busy, "INSTALLED", "succeeded", "runs and is healthy", actor="node")
        self._tell("succeeded", phase="done", ended_at=now())
        return True

    def _go_back(self, busy: str, *, cancelled: bool) -> bool:
        error = None if cancelled else NEVER_HEALTHY
        why = "cancelled" if cancelled else "never got healthy"
        ended = "held" if cancelled else "rolled-back"
        self._log(why)
        self._tell("cancelled" if cancelled else "failed", error=error, ended_at=now())
        self._place(busy, "FAILED", "failed", why, actor="node", error=error)
        if self._runs is None:
            return False
        self._place("FAILED", "ROLLINGBACK", "failed", "the previous revision is proved")
        told = {"actor": "node", "error": error}
        self._place("ROLLINGBACK", "INSTALLED", ended, f"went back: {why}", **told)
        return False

    def _place(self, frm: str | None, to: str, outcome: str, reason: str, **more: Any) -> None:
        runs = self._runs
        self._site.tell(
            "placement",
            {
                "deployment": self._one.id, "name": self._one.name, "node": self._node,
                "incarnation": 1, "state": to, "outcome": outcome, "from": frm, "to": to,
                "revision": runs.revision if runs else None,
                "version": runs.version if runs else None,
                "wanted_revision": self._one.revision, "wanted_version": self._one.version,
                "attempt": 1, "reason": reason, "actor": "runner", "since": now(),
                "health": "healthy" if to == "INSTALLED" else "unknown",
                "operation": self._operation, "commit": self._commit, **more,
            },
        )  # fmt: skip

    def _tell(self, state: str, **more: Any) -> None:
        about = {"id": self._operation, "deployment": self._one.id, "node": self._node}
        about |= {"kind": self._kind, "state": state, "attempt": 1, "started_at": self._began}
        self._site.tell("operation", {**about, "revision": self._one.revision, **more})

    def _log(self, *lines: str) -> None:
        told = [f"{now()[11:19]} {line}" for line in lines]
        self._site.tell("log", {"operation": self._operation, "lines": told})


def now() -> str:
    """This moment as it travels."""
    return datetime.now(UTC).isoformat()
