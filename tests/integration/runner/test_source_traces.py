"""Which id leads from what Git wants back to who asked for it: on real repositories."""

from __future__ import annotations

import shutil
from pathlib import Path

from runner.source import SITE, Source
from tests.support.repository import STOREFRONT, Repository


def trailed(repository: Repository, version: str, *trailers: str, number: int) -> str:
    """Push a version with such trailers; the commit."""
    repository.deploy(version, number=number)
    message = "\n\n".join(("Update storefront", "\n".join(trailers)))
    commit = repository.commit(message=message)
    repository.send()
    return commit


def test_what_changed_last_leads_back_to_who_asked(source: Source, repository: Repository) -> None:
    """By the id in the commit's trailer; what a person pushed, by its commit."""
    found = source.fetch(None, None)
    request = "5f0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d10"
    trailed(repository, "1.1.0", f"Margrave-Request: {request}", "Margrave-Trace: t-1", number=1)
    repository.write("sites/harbor.yaml", "labels: {zone: shop}\n")
    by_hand = repository.push()
    repository.write("README.md", "nobody's business\n")
    repository.push()
    found = source.fetch(found, None)
    assert found.traces == {STOREFRONT: "t-1", SITE: by_hand[:12]}
    trailed(repository, "1.2.0", f"Margrave-Request: {request}", number=2)
    found = source.fetch(found, None)
    assert found.traces == {STOREFRONT: request, SITE: by_hand[:12]}
    again = source.restore(found.commit, found.tree, found.texts, found.site_text, {})
    assert again.traces == found.traces
    repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    gone = repository.push()
    assert source.fetch(found, None).traces[STOREFRONT] == gone[:12]


def test_a_trailer_that_is_no_id_is_not_taken_for_one(
    source: Source, repository: Repository
) -> None:
    """It would stand in logs and on nodes as somebody else wrote it."""
    found = source.fetch(None, None)
    for number, words in enumerate(("two words", "$(reboot)", "x" * 129), 1):
        commit = trailed(repository, f"1.{number}.0", f"Margrave-Trace: {words}", number=number)
        found = source.fetch(found, None)
        assert found.traces[STOREFRONT] == commit[:12], words


def test_the_id_of_a_merged_change_is_that_of_the_change(
    source: Source, repository: Repository
) -> None:
    """Where main is protected people merge what the controller has committed to a branch."""
    found = source.fetch(None, None)
    repository.branch("proposal")
    trailed(repository, "1.1.0", "Margrave-Trace: t-1", number=1)
    repository.merge("proposal")
    found = source.fetch(found, None)
    assert found.deployments[0].version == "1.1.0"
    assert found.traces[STOREFRONT] == "t-1"


def test_what_stood_before_the_clone_began_leads_nowhere(
    source: Source, repository: Repository
) -> None:
    """Half a history says of all that stands at its beginning that it was changed there."""
    trailed(repository, "1.1.0", "Margrave-Trace: t-1", number=1)
    repository.write("deployments/depot/other.yaml", "a: 1\n")
    trailed(repository, "1.1.0", "Margrave-Trace: t-2", number=1)
    found = source.fetch(None, None)
    assert found.traces == {}
    again = source.restore(found.commit, found.tree, found.texts, found.site_text, {})
    assert again.traces == {}


def test_a_clone_that_is_gone_costs_the_ids_and_nothing_else(
    tmp_path: Path, source: Source, repository: Repository
) -> None:
    """They are read from it alone: the site goes on from the store's copy without them."""
    found = source.fetch(None, None)
    trailed(repository, "1.1.0", "Margrave-Trace: t-1", number=1)
    found = source.fetch(found, None)
    source.close()
    shutil.rmtree(tmp_path / "state/source.git")
    again = source.restore(found.commit, found.tree, found.texts, found.site_text, {})
    assert (again.traces, again.unread) == ({}, None)
