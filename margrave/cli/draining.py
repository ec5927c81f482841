"""The question before a drain: what would stop and what would move stands above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrave.cli import changing, tables
from margrave.cli.exits import Problem
from margrave.terminal.asking import confirm

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output


def confirm_drain(api: Api, out: Output, site: str, node: str | None = None, *, yes: bool) -> None:
    """Returns when the answer is yes, as `confirm` does."""
    place = f"{site}/{node}" if node else f"all of {site}"
    if out.for_eyes and not yes:
        planned = _planned(api, site, node)
        if planned is not None:
            rows = [
                {"name": one["name"], "site": one["site"], **each}
                for one in planned
                for each in one["nodes"]
            ]
            out.rows(tables.DRAIN, rows, "nothing stands there")
    confirm(f"Drain {place}?", yes=yes)


def _planned(api: Api, site: str, node: str | None) -> list[dict[str, Any]] | None:
    """The sites' parts of the plan; None where the controller plans no drains yet, or refuses: then
    the drain itself is answered with the reason."""
    body = {"action": "drain", "site": site} | ({"node": node} if node else {})
    try:
        plan = api.post(changing.PLANS, body)["plan"]
    except Problem as problem:
        if problem.status != 422:
            raise
        return None
    parts: list[dict[str, Any]] = plan["sites"]
    return None if plan["findings"] else parts
