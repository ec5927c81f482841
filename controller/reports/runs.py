"""Results of playbooks that people ran by hand: history with the hand that did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from controller.reports.messages import Label, Time, Uuid, Word
from controller.store import deployments, events, history, placements
from controller.store.shapes import stamp
from controller.store.words import EventKind
from margrave.lifecycle import Kind, State

if TYPE_CHECKING:
    from controller.reports.intake import Intake
    from controller.store import Session

REACHED: Final = {
    Kind.INSTALL: State.INSTALLED,
    Kind.UPDATE: State.INSTALLED,
    Kind.ROLLBACK: State.INSTALLED,
    Kind.DELETE: State.DELETED,
}


class RunResult(BaseModel):
    """What a playbook did with a deployment on a node."""

    model_config = ConfigDict(extra="forbid")

    node: Label
    deployment: Uuid
    kind: Kind
    outcome: Literal["succeeded", "failed", "unchanged"]
    error: dict[str, Any] | None = None
    at: Time


class Run(BaseModel):
    """The body of POST runs."""

    model_config = ConfigDict(extra="forbid")

    tool: Word
    user: Annotated[str, Field(min_length=1, max_length=100)]
    playbook: Word
    results: Annotated[list[RunResult], Field(max_length=2_000)]


def take(intake: Intake, session: Session, site: str, run: Run) -> dict[str, Any]:
    """Write the results into the history; a deployment that nobody knows is told back."""
    unknown = []
    for result in run.results:
        key = deployments.find(session, result.deployment, site)
        if key is None:
            unknown.append(result.deployment)
            continue
        before = placements.stand(session, key.key, result.node)
        reached = State.FAILED if result.outcome == "failed" else REACHED[result.kind]
        row = {
            "node": result.node,
            "incarnation": before.incarnation if before else 1,
            "at": result.at,
            "from_state": before.state if before else None,
            "to_state": reached,
            "actor": f"hand:{run.user}",
            "reason": f"{run.tool} {run.playbook}: {result.kind} {result.outcome}",
            "operation": None,
            "attempt": 1,
            "error": result.error,
        }
        history.add(session, key.key, row)
        # The placement itself stays: its runner will see what is there, and say so.
        told = {**row, "at": stamp(result.at), "from": row["from_state"], "to": reached}
        shown = {name: told[name] for name in ("at", "node", "from", "to", "actor", "reason")}
        events.append(
            session,
            EventKind.PLACEMENT,
            {"deployment": key.id, "site": site, "hand": True, **shown},
            site,
            key.id,
            intake.clock(),
        )
    return {"results": len(run.results) - len(unknown), "unknown": sorted(set(unknown))}
