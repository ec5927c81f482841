"""What was decided of a request, before it is let in; and how it was asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from margrave import digest
from margrave.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.admission.bodies import Policies
    from controller.publish.changes import Change
    from controller.store import Session
    from controller.store.documents import Accepted
    from controller.store.words import Action
    from margrave.findings import Finding

    Look = Callable[[Session], Mapping[str, str | None] | None]


@dataclass(frozen=True)
class Asked:
    """What stands beside a request's body.

    `documents`: by path those that the asker looked at (If-Match); with others it is refused.
    `look` returns such documents, and is called for a request that is new: a repeated one has the
    answer that it had before, whatever stands now.
    `note` is called in the transaction that lets the request in, with its id and deployments,
    each by id and site.
    """

    key: str | None = None
    trace: str | None = None
    documents: Mapping[str, str | None] | None = None
    note: Callable[[Session, str, Sequence[tuple[str, str]]], None] | None = None
    look: Look | None = None


PLAINLY: Final = Asked()


@dataclass(frozen=True)
class Decision:
    """What a request would do, before it is let in."""

    action: Action
    body: Policies
    change: Change | None  # None for commands, which need no commit
    concerned: tuple[tuple[str, str], ...]  # (deployment id, site)
    sites: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()
    new: tuple[Accepted, ...] = field(default=())
    documents: Mapping[str, str | None] = field(default_factory=dict)  # by path, as they stand
    withdraws: frozenset[str] = frozenset()  # requests that it takes back

    @property
    def plan(self) -> dict[str, Any]:
        """The plan that is shown; its hash tells whether the world is still the same."""
        findings = [finding.as_dict() for finding in self.findings]
        lasts = [one["duration"] for one in self.sites]
        known = [one for one in lasts if one is not None]
        same = [lasting(one) for one in self.sites]
        parts: dict[str, Any] = {
            "action": self.action.value,
            "sites": same,
            "documents": dict(self.documents),
        }
        if self.change is not None:
            # Identifiers are made anew each time, and say nothing about what happens.
            told = asdict(self.change)
            parts["change"] = {key: told[key] for key in ("kind", "app", "version", "parameters")}
        return {
            "hash": digest.of_bytes(digest.canonical_json(parts)),
            "sites": list(self.sites),
            "duration": max(known) if all(one is not None for one in lasts) and known else None,
            "findings": findings,
        }

    def holding(self, documents: Mapping[str, str | None]) -> Decision:
        """The same, refused where other documents than these stand when it is published."""
        if self.change is None:
            return self
        return replace(self, change=replace(self.change, expected=dict(documents)))

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What refuses it."""
        return tuple(one for one in self.findings if one.severity is Severity.ERROR)


_PASSING = frozenset({"waiting", "bytes", "present", "architecture"})


def lasting(site: Mapping[str, Any]) -> dict[str, Any]:
    """A site's part of the plan without what changes by itself."""
    nodes = [
        {key: value for key, value in node.items() if key not in _PASSING} for node in site["nodes"]
    ]
    return {**{key: value for key, value in site.items() if key != "duration"}, "nodes": nodes}
