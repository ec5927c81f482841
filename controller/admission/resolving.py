"""From the names in a request to what they mean: versions, sites, nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from controller.store import apps, world
from controller.versions import newest
from margrave.errors import DocumentError
from margrave.findings import Finding, did_you_mean
from margrave.matching import selector_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.access.identity import Identity
    from controller.admission.bodies import Targets
    from controller.store import Session
    from controller.store.world import SiteView, Standing


@dataclass(frozen=True)
class Target:
    """A site that a request goes to, and the nodes of it that it names (none: all that fit)."""

    site: SiteView
    nodes: tuple[str, ...] = ()
    pointer: str = "/targets"


def version_of(session: Session, app: str, wanted: str | None, where: str = "") -> str:
    """The version that is meant, the newest when none is named; DocumentError when unknown."""
    usable = apps.usable_versions(session, app)
    if not usable:
        if app in apps.names(session):
            finding = Finding(
                f"{where}/app", f"no version of {app} can be deployed", "see its findings"
            )
        else:
            words = f'there is no application "{app}"'
            cure = did_you_mean(app, apps.names(session)) or "add a source and sync it"
            finding = Finding(f"{where}/app", words, cure, "unknown")
        raise DocumentError([finding])
    if wanted is None:
        found = newest(usable)
        assert found is not None
        return found
    if wanted not in usable:
        words = f'{app} has no version "{wanted}"'
        cure = did_you_mean(wanted, usable)
        raise DocumentError([Finding(f"{where}/version", words, cure, "unknown")])
    return wanted


def targets_of(
    session: Session, targets: Targets, who: Identity
) -> tuple[list[Target], list[Finding]]:
    """The sites that are meant, each once and in order, and what is wrong with the names."""
    if targets.sites is not None:
        return _named(session, targets.sites, who)
    if targets.nodes is not None:
        return _nodes(session, targets.nodes, who)
    assert targets.selector is not None
    selector = targets.selector.model_dump()
    found = [
        Target(site, (), "/targets/selector")
        for site in world.sites(session).values()
        if who.sees(site.name) and selector_matches(selector, site.labels)
    ]
    if not found:
        cure = "look at the labels with margrave site list"
        return [], [Finding("/targets/selector", "selects no site", cure, "unknown")]
    return found, []


def by_site(standing: Iterable[Standing]) -> dict[str, list[Standing]]:
    """What stands at each site; sites with nothing are left out."""
    found: dict[str, list[Standing]] = {}
    for one in standing:
        found.setdefault(one.site, []).append(one)
    return found


def _named(session: Session, names: list[str], who: Identity) -> tuple[list[Target], list[Finding]]:
    known = world.sites(session, names)
    others = _Others(session, who)
    findings = [
        finding
        for place, name in enumerate(names)
        if (finding := _unknown(known, f"/targets/sites/{place}", name, others))
    ]
    if not names:
        findings.append(Finding("/targets/sites", "names no site", "name one at least"))
    place_of = {name: place for place, name in reversed(list(enumerate(names)))}
    found = [
        Target(known[name], (), f"/targets/sites/{place_of[name]}")
        for name in sorted(set(names) & set(known))
        if who.sees(name)
    ]
    return found, findings


def _nodes(session: Session, names: list[str], who: Identity) -> tuple[list[Target], list[Finding]]:
    known = world.sites(session, {name.split("/")[0] for name in names})
    findings: list[Finding] = []
    others = _Others(session, who)
    chosen: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        where = f"/targets/nodes/{place}"
        site, slash, node = name.partition("/")
        wrong = _unknown(known, where, site, others)
        if not slash or not node:
            wrong = Finding(where, f'"{name}" names no node', "write <site>/<node>")
        elif wrong is None and node not in (there := _names(known[site])):
            words = f'{site} has no node "{node}"'
            wrong = Finding(where, words, did_you_mean(node, there), "unknown")
        if wrong:
            findings.append(wrong)
        else:
            chosen.setdefault(site, []).append(node)
    if not names:
        findings.append(Finding("/targets/nodes", "names no node", "name one at least"))
    return [
        Target(known[site], tuple(sorted(set(nodes))), "/targets/nodes")
        for site, nodes in sorted(chosen.items())
    ], findings


def _names(site: SiteView) -> Iterable[str]:
    return [node.name for node in site.nodes]


class _Others:
    """Sites that could have been meant; read once, however many names are wrong."""

    def __init__(self, session: Session, who: Identity) -> None:
        self._session = session
        self.who = who

    @cached_property
    def names(self) -> list[str]:
        """Those that are theirs."""
        return [name for name in world.site_names(self._session) if self.who.sees(name)]


def _unknown(
    known: Mapping[str, SiteView], where: str, name: str, others: _Others
) -> Finding | None:
    if name in known and others.who.sees(name):
        return None
    if name in known:
        return Finding(
            where, f'site "{name}" is not yours', "ask for a token that has it", "forbidden"
        )
    words = f'there is no site "{name}"'
    cure = did_you_mean(name, others.names) or "add it first"
    return Finding(where, words, cure, "unknown")
