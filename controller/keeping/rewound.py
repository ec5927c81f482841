"""Sites that a restore leaves ahead of the deployments repository, and the command for each.

A runner halts where main no longer leads on from the commit it follows, until somebody accepts the
commit that main is at now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.keeping.backup import database_file
from controller.publish import Repository
from controller.store import Store, carrying, documents
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from controller.settings import ControllerSettings


@dataclass(frozen=True, slots=True)
class Observed:
    """The state that a restore replaces: its head, and the commit that each site had applied."""

    head: str | None
    applied: dict[str, str]


@dataclass(frozen=True, slots=True)
class Rewound:
    """Sites that are ahead for certain, sites that may be, and a command for each of them."""

    must_accept: list[str] = field(default_factory=list)
    may_have_to_accept: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def observe(settings: ControllerSettings) -> Observed:
    """Return what is known before the restore; empty where there is nothing that can be read."""
    file = database_file(settings)
    readable = file is None or file.is_file()
    return Observed(_head(Repository(settings)), _applied(settings) if readable else {})


def compare(settings: ControllerSettings, repository: Repository, before: Observed) -> Rewound:
    """Compare the restored repository with what sites have applied."""
    try:
        repository.prepare()
        head = repository.refresh()
    except MargraveError as error:
        words = f"the deployments repository cannot be read, so sites may have to accept: {error}"
        return Rewound(findings=[words])
    restored = _applied(settings)
    sites = _sites(settings)
    must = [
        site
        for site in sites
        if any(
            commit is not None and (head is None or not repository.contains(head, commit))
            for commit in (before.applied.get(site), restored.get(site))
        )
    ]
    # A repository elsewhere did not go back. Of our own, commits are lost unless the head from
    # before leads to the restored one; which of them a site has fetched, only the site knows.
    kept = before.head is not None and head is not None and repository.contains(head, before.head)
    may = [] if kept or not repository.own else [site for site in sites if site not in must]
    commands = [f"margrave site accept {site} --commit {head}" for site in [*must, *may]]
    return Rewound(must, may, commands)


def _head(repository: Repository) -> str | None:
    try:
        return repository.head() if (repository.folder / "HEAD").is_file() else None
    except MargraveError:
        return None


def _applied(settings: ControllerSettings) -> dict[str, str]:
    store = Store(settings.database_url)
    try:
        with store.session() as session:
            return carrying.applied_commits(session)
    except MargraveError:  # damaged, or of a schema without these columns
        return {}
    finally:
        store.close()


def _sites(settings: ControllerSettings) -> list[str]:
    store = Store(settings.database_url)
    try:
        with store.session() as session:
            return sorted(documents.sites(session))
    finally:
        store.close()
