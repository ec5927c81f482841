"""Exit codes, and what leads to each: one table for statuses, one for exceptions."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import Conflict, MargraveError, NotFound, Refused, Unreachable
from margrave.terminal.asking import Misuse

if TYPE_CHECKING:
    from collections.abc import Mapping


class Exit(IntEnum):
    """Scripts rely on these numbers; they are never reused for another meaning."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    WOULD_CHANGE = 4
    REFUSED = 5
    UNREACHABLE = 6
    TIMED_OUT = 124
    INTERRUPTED = 130


class TimedOut(MargraveError):
    """What was waited for did not come about within the limit."""


class Problem(MargraveError):
    """The controller's or runner's answer says why not (RFC 9457)."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.body = dict(body)
        text = str(body.get("detail") or body.get("title") or f"the answer was {status}")
        super().__init__(text, str(body.get("cure") or ""))

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The places the answer complains about; may be empty."""
        errors = self.body.get("errors")
        return [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []


BY_STATUS: Final = {
    401: Exit.REFUSED,
    403: Exit.REFUSED,
    404: Exit.NOT_FOUND,
    409: Exit.REFUSED,
    412: Exit.REFUSED,
    429: Exit.UNREACHABLE,
}

# The first class that fits decides, so narrower ones stand above.
BY_EXCEPTION: Final[tuple[tuple[type[MargraveError], Exit], ...]] = (
    (TimedOut, Exit.TIMED_OUT),
    (Misuse, Exit.USAGE),
    (NotFound, Exit.NOT_FOUND),
    (Refused, Exit.REFUSED),
    (Conflict, Exit.REFUSED),
    (Unreachable, Exit.UNREACHABLE),
)


def of_problem(problem: Problem) -> Exit:
    """The exit code of an HTTP answer that is no success."""
    codes = [one.get("code") for one in problem.findings]
    if problem.status == 422 and codes and all(code == "unknown" for code in codes):
        return Exit.NOT_FOUND
    if problem.status >= 500:
        return Exit.UNREACHABLE
    return BY_STATUS.get(problem.status, Exit.FAILED)


def of(error: MargraveError) -> Exit:
    """The exit code of any error of ours."""
    if isinstance(error, Problem):
        return of_problem(error)
    for kind, code in BY_EXCEPTION:
        if isinstance(error, kind):
            return code
    return Exit.FAILED
