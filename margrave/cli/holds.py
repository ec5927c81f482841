"""Reasons why a change does not go on: window, pause, lock, a registry that does not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from margrave.cli.paths import at
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from margrave.cli.api import Api

Key = tuple[str, str]  # a deployment's id and site
# The steps of `explain` at which a change stops until somebody or something outside of it acts.
HOLDS: Final = frozenset(
    {
        "push",
        "merge",
        "document",
        "runner",
        "halted",
        "locked",
        "paused",
        "drain",
        "window",
    }
)
# A placement that waits for these goes on by itself, within the time that the release has.
PASSING: Final = ("backoff", "batch", "operation")
PUBLISHING: Final = frozenset({"push", "merge"})
# An explanation is a dozen queries at the controller; nobody reads faster than this.
PERIOD: Final = 2.0


class Holds:
    """Reasons that hold deployments up, asked for now and then; each is printed once."""

    def __init__(self, api: Api, tell: Callable[[str], None]) -> None:
        self._api = api
        self._tell = tell
        self._asked: dict[Key, float] = {}
        self._known: dict[Key, str] = {}
        self._told: dict[object, str] = {}

    def of_deployment(self, key: Key, where: str) -> str:
        """Return what holds a deployment up at the moment, or an empty string."""
        now = time.monotonic()
        if now - self._asked.get(key, float("-inf")) >= PERIOD:
            self._asked[key] = now
            self._known[key] = self._explained(key)
            self.tell(key, f"{where}: {self._known[key]}" if self._known[key] else "")
        return self._known[key]

    def tell(self, key: object, text: str) -> None:
        """Print a reason, unless it is the last one that was printed for the key."""
        if text and self._told.get(key) != text:
            self._tell(text)
        self._told[key] = text

    def _explained(self, key: Key) -> str:
        try:
            found = self._api.get(at("deployments", key[0], "explain"), site=key[1])
        except MargraveError:
            return ""  # the next request for the deployment itself fails with the cause
        return reason(found.get("steps") or ())


def reason(steps: Any, *, published: bool = False) -> str:
    """Return the first thing that an explanation names as holding the change up.

    `published`: of a change that has ended, and that only a newer request could change.
    """
    for step in steps:
        if isinstance(step, Mapping) and not step.get("ok"):
            if step.get("step") in (PUBLISHING if published else HOLDS):
                return str(step.get("detail"))
            if step.get("step") == "placement" and not published and _waits(_detail(step)):
                return _detail(step)
    return ""


def _waits(detail: str) -> bool:
    _, waits, cause = detail.partition("waits for ")
    return bool(waits) and not cause.startswith(PASSING)


def _detail(step: Mapping[str, Any]) -> str:
    return str(step.get("detail"))


def of_request(request: Mapping[str, Any]) -> str:
    """Return why a request is not published yet, or an empty string."""
    error = request.get("error")
    if isinstance(error, Mapping):
        cure = f" ({error['cure']})" if error.get("cure") else ""
        return f"{error.get('message')}{cure}" if error.get("message") else ""
    return str(error or "")
