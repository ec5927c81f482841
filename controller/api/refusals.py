"""What was refused stands in the audit, beside what was done."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from controller.api.call import deed_of
from controller.api.problems import Problem, of_error
from controller.store import audit
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.access.identity import Identity
    from controller.parts import Parts

# Not allowed, or in conflict with how things stand. What could not be read was no attempt at all.
REFUSED: Final = frozenset({403, 409, 412})
READING: Final = frozenset({"GET", "HEAD"})


@contextmanager
def told(parts: Parts, who: Identity, method: str, path: str) -> Iterator[None]:
    """Write a refusal down that somebody meets who wants to change something; runners' are none:
    a gap in their reports is a conflict too, and heals itself."""
    try:
        yield
    except (Problem, MargraveError) as error:
        problem = error if isinstance(error, Problem) else of_error(error)
        if method not in READING and problem.status in REFUSED and not who.is_site:
            _write(parts, who, method, path, problem)
        raise


def _write(parts: Parts, who: Identity, method: str, path: str, problem: Problem) -> None:
    """Write a refusal, unless the caller has met so many that they would fill the audit."""
    unwritten = parts.refusals.take(who.holder)
    if unwritten is None:
        return
    detail: dict[str, Any] = {"status": problem.status, "why": str(problem.detail)[:500]}
    if unwritten:
        detail["not_written"] = unwritten
    deed = deed_of(who, method.lower(), path[:255], "refused", detail)
    with parts.store.write() as session:
        audit.add(session, deed, parts.clock())
