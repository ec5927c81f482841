"""A new deployment: which documents it would be, and what speaks against them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from controller.admission import engines, planning, resolving
from controller.admission.planning import Step
from controller.admission.workshop import Workshop
from controller.publish.changes import Change
from controller.publish.said import deployment_values
from controller.store import removals, world
from controller.store.documents import Accepted
from margrave import parameters
from margrave.errors import Conflict, DocumentError, Refused
from margrave.findings import Finding
from margrave.names import LABEL_CURE, is_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.access.identity import Identity
    from controller.admission.bodies import Create
    from controller.admission.resolving import Target
    from controller.publish.materials import Materials
    from controller.store import Session
    from controller.store.freshness import Moment
    from controller.store.world import Standing
    from margrave.documents.deployment import Deployment
    from margrave.documents.description import ApplicationDescription


@dataclass(frozen=True)
class Created:
    """What a creation would be."""

    change: Change
    concerned: tuple[tuple[str, str], ...]
    sites: tuple[dict[str, Any], ...]
    findings: tuple[Finding, ...]
    new: tuple[Accepted, ...]


def decide(
    session: Session, read: Create, who: Identity, materials: Materials, moment: Moment
) -> Created:
    """What would be made; DocumentError for what is unknown or wrong, Conflict for the name."""
    targets, findings = resolving.targets_of(session, read.targets, who)
    names = [target.site.name for target in targets]
    _sites_stay(session, names, moment)
    standing = world.at_sites(session, names)
    name = read.name or read.app
    _name_is_free(name, standing)
    findings += _name_findings(name, named=read.name is not None)
    try:
        version = resolving.version_of(session, read.app, read.version)
        change = _change(read, version, name, targets, materials)
    except DocumentError as error:
        raise DocumentError([*findings, *error.findings]) from error
    findings += _parameter_findings(read, version, materials)
    if findings:
        raise DocumentError(findings)
    sites, new = [], []
    chosen = read.profile is None and len(_description(read, version, materials).profiles) > 1
    neighbours = resolving.by_site(standing)
    workshop = Workshop(materials)
    wishes: dict[tuple[str, tuple[str, ...]], tuple[Deployment, dict[str, Any]]] = {}
    told: dict[str, list[Finding]] = {}
    for target, deployment in zip(targets, change.targets, strict=True):
        # Documents of a request differ in id, site, profile and nodes: one of each kind is checked.
        profile = str(change.targets[deployment]["profile"])
        kind = (profile, target.nodes)
        if kind not in wishes:
            made = change.applied(deployment, None, materials)
            assert made is not None
            document = workshop.checked(made)
            wishes[kind] = (document, workshop.needs(document))
            told[document.profile_type] = engines.findings(document.profile_type, read.extensions)
        document, needs = wishes[kind]
        why = f"{read.app} {version} is not at {target.site.name} yet"
        why += f", and fits there as {profile}" if chosen else ""
        beyond = workshop.beyond(document, target.site.document)
        step = Step("install", document, why, needs, pointer=target.pointer, beyond=beyond)
        others = neighbours.get(target.site.name, ())
        planned = planning.plan_site(target.site, step, others, moment)
        sites.append(planned.shown)
        findings += planned.findings
        new.append(_accepted(deployment, document, target.site.name, who, needs))
    findings += [one for some in told.values() for one in some]
    concerned = tuple((one.id, one.site) for one in new)
    return Created(change, concerned, tuple(sites), tuple(findings), tuple(new))


def belonging_to(new: Accepted, request: str) -> Accepted:
    """The row of a deployment, with the request that brings it."""
    return replace(new, request=request)


def refused_plan(findings: Sequence[Finding] | None, words: str) -> dict[str, Any]:
    """The plan of what would be refused: nothing happens, and this is why."""
    found = findings if findings is not None else [Finding("/name", words, code="conflict")]
    told = [one.as_dict() for one in found]
    return {"hash": None, "sites": [], "duration": None, "findings": told}


def _change(
    read: Create, version: str, name: str, targets: Sequence[Target], materials: Materials
) -> Change:
    material = materials(read.app, version)
    assert material is not None
    try:
        named = material.profile(read.profile)
    except Refused as error:
        finding = Finding("/profile", error.message, error.cure, "unknown")
        raise DocumentError([finding]) from error
    documents: dict[str, dict[str, Any]] = {}
    placement = read.extensions.get("placement")
    for target in targets:
        one = str(uuid.uuid4())
        profile = named
        if read.profile is None:
            profile = engines.profile_for(target, material.description.profiles, placement)
        place = target.nodes[0] if len(target.nodes) == 1 else "*"
        documents[one] = {
            "id": one,
            "name": name,
            "device_id": f"{target.site.name}/{place}",
            "profile": profile.id,
        }
        if len(target.nodes) > 1:
            documents[one]["nodes"] = list(target.nodes)
    return Change(
        kind="create",
        app=read.app,
        version=version,
        profile=named.id,
        parameters=dict(read.parameters),
        extensions=read.extensions,
        targets=documents,
    )


def _parameter_findings(read: Create, version: str, materials: Materials) -> list[Finding]:
    given = {name: value for name, value in read.parameters.items() if value is not None}
    return parameters.check(_description(read, version, materials), given)


def _description(read: Create, version: str, materials: Materials) -> ApplicationDescription:
    material = materials(read.app, version)
    assert material is not None
    return material.description


def _sites_stay(session: Session, names: Sequence[str], moment: Moment) -> None:
    """Refuse a site that is being removed: one of the two comes first, and it was the removal."""
    leaving = sorted(removals.under_way(session, moment.now) & set(names))
    if leaving:
        words = f"site {', '.join(leaving)} is being removed"
        raise Conflict(words, "choose another site, or add it again afterwards")


def _name_is_free(name: str, standing: Sequence[Standing]) -> None:
    taken = sorted({one.site for one in standing if one.name == name and one.takes_its_name})
    if taken:
        words = f'there is a deployment "{name}" at {", ".join(taken)} already'
        raise Conflict(words, "choose another name, or update it")


def _name_findings(name: str, *, named: bool) -> list[Finding]:
    if is_label(name):
        return []
    cure = LABEL_CURE if named else f"give a name: {LABEL_CURE}"
    return [Finding("/name", f'"{name}" is not a name', cure)]


def _accepted(
    deployment: str, document: Deployment, site: str, who: Identity, needs: Mapping[str, Any]
) -> Accepted:
    values = deployment_values(document)
    return Accepted(
        id=deployment,
        site=site,
        name=document.name,
        app=document.application_id,
        version=document.version or "",
        profile=document.profile_type,
        node=values["node"],
        request="",
        actor=who.actor,
        parameters=document.values,
        needs=needs,
    )
