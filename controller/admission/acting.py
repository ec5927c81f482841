"""Update, rollback, delete, and the commands: what a request makes of deployments that stand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from controller.admission import engines, planning, resolving
from controller.admission.planning import Step
from controller.admission.workshop import Workshop
from controller.publish.changes import Change
from controller.store import requests, world
from controller.store.words import Action
from margrave import parameters
from margrave.documents.deployment import read_deployment, revision_of
from margrave.errors import Conflict, DocumentError, NotFound, Refused
from margrave.findings import Finding
from margrave.lifecycle import State
from margrave.matching import selector_matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.access.identity import Identity
    from controller.admission.bodies import Act
    from controller.admission.past import Past
    from controller.publish.materials import Materials
    from controller.store import Session
    from controller.store.freshness import Moment
    from controller.store.world import Standing
    from margrave.documents.deployment import Deployment

_COMMITTED = (Action.UPDATE, Action.ROLLBACK, Action.DELETE)


@dataclass(frozen=True)
class Acted:
    """What an action would be."""

    change: Change | None
    concerned: tuple[tuple[str, str], ...]
    sites: tuple[dict[str, Any], ...]
    findings: tuple[Finding, ...]
    documents: Mapping[str, str | None] = field(default_factory=dict)  # by path, as they stand
    withdraws: frozenset[str] = frozenset()  # requests that are taken back by it


def decide(
    session: Session,
    read: Act,
    who: Identity,
    materials: Materials,
    moment: Moment,
    past: Past,
) -> Acted:
    """What would become of the selected; DocumentError when nothing is selected."""
    chosen = selected(session, read, who)
    concerned = tuple((one.id, one.site) for one in chosen)
    sites = world.sites(session, {one.site for one in chosen})
    if read.kind not in _COMMITTED:
        taken_back = _taken_back(session, chosen) if read.kind is Action.CANCEL else frozenset()
        _are_there([one for one in chosen if one.request not in taken_back])
        told = [planning.told(sites[one.site], one, read.action, moment) for one in chosen]
        return Acted(None, concerned, tuple(told), (), withdraws=taken_back)
    _are_in_git(chosen, read.kind)
    change = _change(session, read, chosen, past)
    findings: list[Finding] = []
    neighbours = resolving.by_site(world.at_sites(session, sites))
    shown = []
    workshop = Workshop(materials)
    for one in chosen:
        try:
            step = _step(one, change, read, materials, workshop)
            if step.document is not None and step.action != "none":
                step = replace(
                    step, beyond=workshop.beyond(step.document, sites[one.site].document)
                )
        except DocumentError as error:
            findings += [found for found in error.findings if found not in findings]
            continue
        if step.document is not None:
            able = engines.findings(step.document.profile_type, read.extensions)
            findings += [found for found in able if found not in findings]
        others = neighbours.get(one.site, ())
        made = planning.plan_site(sites[one.site], step, others, moment)
        shown.append(made.shown)
        findings += made.findings
    stand = {f"deployments/{one.site}/{one.id}.yaml": one.document_digest for one in chosen}
    return Acted(change, concerned, tuple(shown), tuple(findings), stand)


def selected(session: Session, read: Act, who: Identity) -> list[Standing]:
    """What is chosen of what they see; DocumentError when that is nothing."""
    by = read.select.model_dump(exclude_none=True)
    if not by:
        words = "selects by nothing"
        cure = f"give one at least of {', '.join(type(read.select).model_fields)}"
        raise DocumentError([Finding("/select", words, cure)])
    found = [one for one in world.selected(session, by) if who.sees(one.site)]
    if "selector" in by:
        sites = world.sites(session, {one.site for one in found})
        found = [one for one in found if selector_matches(by["selector"], sites[one.site].labels)]
    if not found:
        cure = "list what there is with margrave deployment list"
        raise DocumentError([Finding("/select", "selects no deployment", cure, "unknown")])
    return found


def _taken_back(session: Session, chosen: Sequence[Standing]) -> frozenset[str]:
    """Requests that are still to bring what is cancelled, and nothing else."""
    meant = {(one.id, one.site) for one in chosen}
    return frozenset(
        name
        for name in {one.request for one in chosen if one.awaited and one.request}
        if meant.issuperset(requests.concerned_by(session, name))
    )


def _are_there(chosen: Sequence[Standing]) -> None:
    """A command reaches what a runner knows of: not what is to come, nor what is gone."""
    for one in chosen:
        if one.awaited:
            words = f"{one.name} at {one.site} is still being published"
            cure = "take its request back, or try again when that is published"
            raise Conflict(words, cure)
        if one.state is State.DELETED:
            raise Conflict(f"{one.name} at {one.site} is deleted", "create it again")


def _are_in_git(chosen: Sequence[Standing], action: Action) -> None:
    for one in chosen:
        if one.awaited:
            words = f"{one.name} at {one.site} is still being published"
            cure = f"margrave deployment explain {one.name} shows what it waits for; then try again"
            raise Conflict(words, cure)
        if not one.in_git and action is not Action.DELETE:
            gone = "deleted" if one.state is State.DELETED else "being deleted"
            raise Conflict(f"{one.name} at {one.site} is {gone}", "create it again")


def _change(session: Session, read: Act, chosen: Sequence[Standing], past: Past) -> Change:
    if read.kind is Action.DELETE:
        return Change("delete")
    if read.kind is Action.ROLLBACK:
        extensions = {key: value for key, value in read.extensions.items() if value is not None}
        contents = {one.id: past.of(one) for one in chosen}
        return Change("rollback", extensions=extensions, contents=contents)
    if read.version is not None:
        for app in sorted({one.app for one in chosen}):
            resolving.version_of(session, app, read.version)
    return Change(
        "update",
        version=read.version,
        profile=read.profile,
        parameters=dict(read.parameters),
        extensions=read.extensions,
    )


def _step(
    one: Standing, change: Change, read: Act, materials: Materials, workshop: Workshop
) -> Step:
    """What becomes of one deployment."""
    if change.kind == "delete":
        why = "its document leaves Git" if one.in_git else "its document is gone from Git already"
        return Step("delete", None, why, standing=one, pointer="/select")
    before = read_deployment(one.document or "")
    old = before.raw
    try:
        new = change.applied(one.id, old, materials)
    except NotFound as error:
        raise DocumentError([Finding("/version", error.message, error.cure, "unknown")]) from error
    except Refused as error:
        raise DocumentError([Finding("/profile", error.message, error.cure, "unknown")]) from error
    assert new is not None
    document = workshop.checked(new)
    _parameters_fit(one, read, before.values, document, materials)
    runs = any(placed.get("revision") for placed in one.placements.values())
    _refuse(engines.same_kind(before.profile_type, document.profile_type, runs=runs))
    same = new == old
    action = "none" if same or revision_of(new) == revision_of(old) else change.kind
    needs = one.needs if action == "none" else _needs(one, document, workshop)
    why = _why(one, before.values, document.values, document.version)
    if same:
        why = "it is as wanted already"
    elif action == "none":
        why = "only policies change: nothing is done on nodes"
    return Step(action, document, why, needs, one, "/select", same)


def _needs(one: Standing, document: Deployment, workshop: Workshop) -> Mapping[str, Any]:
    """What it takes then; the images of the same version stay those that Git has pinned."""
    needs = workshop.needs(document)
    if document.version == one.version:
        return (
            {**needs, "images": one.needs.get("images", ())} if any(needs.values()) else one.needs
        )
    return needs


def _parameters_fit(
    one: Standing,
    read: Act,
    before: Mapping[str, Any],
    document: Deployment,
    materials: Materials,
) -> None:
    """The values that are given fit the version, and none changes that is fixed by now."""
    version = document.version
    material = materials(document.application_id, version) if version else None
    if material is None:
        return
    given = {name: value for name, value in read.parameters.items() if value is not None}
    findings = parameters.check(material.description, given)
    if any(runs.get("revision") for runs in one.placements.values()):
        findings += parameters.check_change(material.description, before, document.values)
    if findings:
        raise DocumentError(findings)


def _refuse(findings: list[Finding]) -> None:
    if findings:
        raise DocumentError(findings)


def _why(
    one: Standing, before: Mapping[str, Any], after: Mapping[str, Any], version: str | None
) -> str:
    parts = []
    if version != one.version:
        parts.append(f"version {one.version or 'unknown'} becomes {version or 'unknown'}")
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if changed:
        parts.append(f"{', '.join(changed)} {'changes' if len(changed) == 1 else 'change'}")
    return "; ".join(parts) or "its content changes"
