"""Rules between the documents and components of a deployments repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from margrave import places
from margrave.documents._reading import OURS
from margrave.documents.deployment import Deployment
from margrave.findings import Finding, did_you_mean
from margrave.linting.reading import Read

COMPOSE_FILE: Final = "compose.yaml"
CHART_FILE: Final = "Chart.yaml"
ROOTS: Final[Mapping[str, str]] = {"compose": COMPOSE_FILE, "helm": CHART_FILE}


@dataclass(frozen=True)
class Placed:
    """A deployment that could be read, with the site and the file's name that its path says."""

    site: str
    stem: str
    read: Read

    @property
    def document(self) -> Deployment:
        """The deployment."""
        found = self.read.document
        assert isinstance(found, Deployment)
        return found


@dataclass(frozen=True)
class Content:
    """What lies in a folder of components/: its digest, or why it has none."""

    digest: str = ""
    files: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Repository:
    """All of it that could be read; components by the name of their folder."""

    deployments: tuple[Placed, ...] = ()
    components: Mapping[str, Content] = field(default_factory=dict)


def check(repository: Repository) -> Iterator[Finding]:
    """What is wrong between documents that are right by themselves."""
    for rule in _RULES:
        yield from rule(repository)


def _place(repository: Repository) -> Iterator[Finding]:
    """The path says what the document says."""
    for one in repository.deployments:
        for path, words, cure in places.misplaced(one.document, one.site, one.stem):
            yield one.read.finding(path, words, cure, "place")


def _once(repository: Repository) -> Iterator[Finding]:
    """An id stands once in the repository, a name once at its site."""
    ids: dict[str, str] = {}
    names: dict[tuple[str, str], str] = {}
    for one in repository.deployments:
        key, name = one.document.id.lower(), (one.site, one.document.name)
        if key in ids:
            words = f"{ids[key]} has this id too"
            yield one.read.finding(("id",), words, "give one of them a new UUID", "twice")
        if name in names:
            words = f"{names[name]} is called {name[1]} too, at the same site"
            yield one.read.finding(("metadata", "name"), words, "rename one of them", "twice")
        ids.setdefault(key, one.read.file)
        names.setdefault(name, one.read.file)


def _sources(repository: Repository) -> Iterator[Finding]:
    """A component that Git delivers is there, and holds what its kind is known by."""
    for one in repository.deployments:
        for index, component in enumerate(one.document.components):
            if component.source is None:
                continue
            where = ("spec", "deploymentProfile", "components", index, OURS, "source")
            found = repository.components.get(component.source.removeprefix("components/"))
            if found is None:
                words = f"{component.source} is not in the repository"
                yield one.read.finding(where, words, "add the folder", "component")
                continue
            kind = one.document.profile_type
            root = ROOTS.get(kind)
            if root is not None and root not in found.files:
                words, cure = f"{component.source} holds no {root}", f"a {kind} component has one"
                yield one.read.finding(where, words, f"{cure} at its root", "component")


def _requires(repository: Repository) -> Iterator[Finding]:
    """What has to be healthy first is at the site, and does not wait for this one."""
    sites: dict[str, dict[str, Placed]] = defaultdict(dict)
    for one in repository.deployments:
        sites[one.site].setdefault(one.document.name, one)
    for one in repository.deployments:
        here = sites[one.site]
        for index, name in enumerate(one.document.extensions.requires):
            where = ("spec", OURS, "requires", index)
            if name not in here:
                words = f'no deployment at {one.site} is called "{name}"'
                cure = did_you_mean(name, here) or "add it"
                yield one.read.finding(where, words, cure, "unknown")
            elif one.document.name in _behind(name, here):
                words = f'"{name}" waits for {one.document.name} itself: neither would ever start'
                yield one.read.finding(where, words, "remove one of the two", "circle")


def _behind(name: str, here: Mapping[str, Placed]) -> set[str]:
    """The deployment and all that it waits for, near and far."""
    found: set[str] = set()
    open_ = [name]
    while open_:
        one = open_.pop()
        if one in here and one not in found:
            found.add(one)
            open_ += here[one].document.extensions.requires
    return found


_RULES: Final[tuple[Callable[[Repository], Iterator[Finding]], ...]] = (
    _place,
    _once,
    _sources,
    _requires,
)
