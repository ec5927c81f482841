"""How an error is told: one line with its cure on stderr, or the problem itself for machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from margrave.cli.exits import Problem

if TYPE_CHECKING:
    from margrave.errors import MargraveError


def lines(error: MargraveError) -> list[str]:
    """One line for each finding, or one for the error."""
    if isinstance(error, Problem) and error.findings:
        return [f"margrave: {_finding(one)}" for one in error.findings]
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return [f"margrave: {first}", *rest]


def _finding(finding: dict[str, Any]) -> str:
    text = str(finding.get("detail") or finding.get("message") or finding.get("code") or "refused")
    cure = finding.get("cure")
    words = [str(finding.get("pointer") or ""), f"{text} ({cure})" if cure else text]
    return ": ".join(word for word in words if word)


def as_json(error: MargraveError) -> str:
    """The problem as the API told it; errors of this side take the same shape."""
    if isinstance(error, Problem):
        body: dict[str, Any] = {"status": error.status, **error.body}
    else:
        body = {"title": type(error).__name__, "detail": error.message, "cure": error.cure}
        findings = getattr(error, "findings", None)
        if findings:
            body["errors"] = [one.as_dict() for one in findings]
    return json.dumps(body, ensure_ascii=False)
