"""One request as a handler sees it: who asks, the parts, the page wanted, and what to answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flask import g, request

from controller.api import paging
from controller.api.problems import Problem
from controller.store import audit
from controller.store.audit import Deed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.access.identity import Identity
    from controller.parts import Parts
    from controller.store import Session


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer other than a plain 200."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A request on its way through one handler."""

    parts: Parts
    who: Identity
    given: Mapping[str, str] | None = None  # what a page asks for; None: what the query says

    @property
    def args(self) -> Mapping[str, str]:
        """The query's arguments; of repeated ones the first counts."""
        return request.args if self.given is None else self.given

    @property
    def trace(self) -> str:
        """The request's id, which travels to the node."""
        return str(g.request_id)

    def page(self, width: int = 1) -> paging.Page:
        """The page that the query asks for."""
        return paging.read(self.args, width)

    def must_see(self, site: str) -> None:
        """403 for a site that is not theirs."""
        if not self.who.sees(site):
            raise Problem(403, f'site "{site}" is not yours', cure="ask for a token that has it")

    def write_down(
        self,
        session: Session,
        action: str,
        target: str,
        detail: Mapping[str, Any] | None = None,
        outcome: str = "done",
    ) -> None:
        """Audit what this request does, in the transaction that does it."""
        audit.add(session, deed_of(self.who, action, target, outcome, detail), self.parts.clock())


def deed_of(
    who: Identity,
    action: str,
    target: str,
    outcome: str,
    detail: Mapping[str, Any] | None = None,
) -> Deed:
    """What this request does, as it is written down; a token is told by its id too."""
    token = {"token": who.token} if who.token else {}
    return Deed(
        actor=who.actor,
        action=action,
        target=target,
        outcome=outcome,
        address=request.remote_addr,
        trace=str(g.request_id),
        detail={**(detail or {}), **token},
    )
