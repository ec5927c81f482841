"""What the runner takes from Git, and what makes it halt: on real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from margrave import digest
from margrave.secret import Secret
from runner.source import Access, Desired, Halted, Source
from tests.support.repository import STOREFRONT, Repository


def test_documents_and_components_are_there(source: Source, repository: Repository) -> None:
    """A verified commit comes with everything that its documents name."""
    found = source.fetch(None, None)
    (deployment,) = found.deployments
    assert (deployment.id, deployment.version) == (STOREFRONT, "1.0.0")
    name = deployment.components[0].source
    assert name is not None
    assert (found.components / name.split("/")[1] / "compose.yaml").is_file()


def test_asking_is_cheap_while_nothing_moved(source: Source, repository: Repository) -> None:
    """A poll compares commits and fetches nothing."""
    found = source.fetch(None, None)
    assert not source.has_moved(found.commit)
    repository.push()
    assert source.has_moved(found.commit)


def test_between_two_fetches_no_git_is_left_running(source: Source, repository: Repository) -> None:
    """Neither after one that was taken nor after one that halts."""
    found = source.fetch(None, None)
    assert not _children()
    repository.write("sites/harbor.yaml", "colour: red\n")
    repository.push()
    with pytest.raises(Halted):
        source.fetch(found, None)
    assert not _children()


def _children() -> list[str]:
    """The commands of processes that this one has started and that have not ended."""
    told = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    ).stdout
    return [one for one in told.splitlines() if one.startswith("git ")]


def test_a_commit_elsewhere_keeps_the_very_same_documents(
    source: Source, repository: Repository
) -> None:
    """Only the site's own subtree counts."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", site="depot", number=1)
    repository.write("deployments/depot/broken.yaml", "nonsense: [")
    repository.push()
    after = source.fetch(before, None)
    assert after.commit != before.commit
    assert after.deployments is before.deployments


def test_one_changed_document_is_read_and_the_others_stay(
    source: Source, repository: Repository
) -> None:
    """A push to one of a thousand deployments costs one."""
    other = STOREFRONT.replace("3f", "4f", 1)
    repository.deploy("1.0.0", name="other", identifier=other)
    repository.push()
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    repository.push()
    after = source.fetch(before, None)
    assert after.deployment(other) is before.deployment(other)
    changed = after.deployment(STOREFRONT)
    assert changed is not None
    assert changed.version == "1.1.0"


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (f"deployments/harbor/{STOREFRONT}.yaml", "id: [", "line"),
        ("deployments/harbor/other.yaml", "id: x\n", "other.yaml"),
        ("deployments/harbor/note.yml", "a: 1\n", "call it .yaml"),
        ("sites/harbor.yaml", "colour: red\n", "colour"),
    ],
)
def test_a_broken_document_of_the_site_halts(
    source: Source, repository: Repository, path: str, text: str, words: str
) -> None:
    """What runs stays; the reason names the file."""
    before = source.fetch(None, None)
    repository.write(path, text)
    commit = repository.push()
    with pytest.raises(Halted) as halted:
        source.fetch(before, None)
    assert halted.value.commit == commit
    assert path in str(halted.value) or words in str(halted.value)


def test_a_document_must_stand_where_it_belongs(source: Source, repository: Repository) -> None:
    """A document that was copied from another site halts, with both findings at once."""
    repository.deploy("1.0.0", site="depot")
    text = (repository.tree / f"deployments/depot/{STOREFRONT}.yaml").read_text()
    wrong = "deployments/harbor/11111111-5d0e-4c7a-9b1e-2f7f2a1c9d10.yaml"
    repository.write(wrong, text)
    repository.push()
    with pytest.raises(Halted) as halted:
        source.fetch(None, None)
    assert "is not the file's name" in str(halted.value)
    assert "is not of site harbor" in str(halted.value)


def test_a_component_that_is_not_what_its_name_says_halts(
    source: Source, repository: Repository
) -> None:
    """Content is taken by its digest and by nothing else."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    (name,) = {p.name for p in (repository.tree / "components").iterdir()} - {
        str(before.deployments[0].components[0].source).split("/")[1]
    }
    repository.write(f"components/{name}/compose.yaml", "services: {evil: {image: x}}\n")
    repository.push()
    with pytest.raises(Halted, match=f"components/{name}"):
        source.fetch(before, None)


def test_a_component_with_a_link_halts(source: Source, repository: Repository) -> None:
    """Nothing in a component leads out of it."""
    repository.deploy("1.1.0", number=7)
    name = repository.component(7)
    (repository.tree / f"components/{name}/link").symlink_to("/etc/passwd")
    repository.push()
    with pytest.raises(Halted, match="link"):
        source.fetch(None, None)


@pytest.mark.parametrize(
    "line",
    [
        "env_file: /etc/passwd",
        "env_file: [{path: ../../../../etc/passwd}]",
        "extends: {file: ../other/compose.yaml, service: web}",
        "label_file: ${HOME}/labels",
    ],
)
def test_a_component_that_reads_files_of_the_node_halts(
    source: Source, repository: Repository, line: str
) -> None:
    """Whoever pushes past the catalogue is held to the same rules: nothing of it reaches a node."""
    text = f"services:\n  web:\n    image: a.example/b@sha256:{'0' * 64}\n    {line}\n"
    name = digest.of_files({"compose.yaml": digest.File(text.encode())})[7:]
    repository.write(f"components/{name}/compose.yaml", text)
    document = repository.tree / f"deployments/harbor/{STOREFRONT}.yaml"
    document.write_text(document.read_text().replace(repository.component(0), name))
    repository.push()
    with pytest.raises(Halted, match=f"components/{name}: compose.yaml: services.web"):
        source.fetch(None, None)


def test_a_missing_component_halts(source: Source, repository: Repository) -> None:
    """A document whose content was not pushed is not begun."""
    repository.deploy("1.1.0", number=9)
    shutil.rmtree(repository.tree / "components")
    repository.push()
    with pytest.raises(Halted, match="is not in the repository"):
        source.fetch(None, None)


def test_rewritten_history_halts_until_it_is_accepted(
    source: Source, repository: Repository
) -> None:
    """A force-push is taken only when a person says so."""
    repository.deploy("1.1.0", number=1)
    repository.push()
    before = source.fetch(None, None)
    commit = repository.rewrite()
    with pytest.raises(Halted, match="history was rewritten"):
        source.fetch(before, None)
    assert source.fetch(before, commit).commit == commit


def test_the_own_ca_counts_more_than_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git asks the variable before any setting, so the variable is what is set."""
    monkeypatch.setenv("GIT_SSL_CAINFO", "/etc/ssl/certs/ca-certificates.crt")
    access = Access("https://git.example/d.git", ca_file="/etc/margrave/ca.pem")
    assert access.environment()["GIT_SSL_CAINFO"] == "/etc/margrave/ca.pem"


def test_credentials_stand_neither_in_the_clone_nor_in_arguments(
    source: Source, tmp_path: Path
) -> None:
    """They travel in the environment, bound to the remote."""
    access = Access("https://git.example/d.git", username="u", password=Secret("pass"))
    environment = access.environment()
    assert "http.https://git.example/d.git.extraHeader" in environment.values()
    source.fetch(None, None)
    config = (tmp_path / "state/source.git/config").read_text()
    assert "url" not in config


def test_components_that_nobody_names_are_removed(
    source: Source, repository: Repository, tmp_path: Path
) -> None:
    """Those of current and previous stay."""
    first = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    repository.push()
    second = source.fetch(first, None)
    source.keep_components((), second, first)
    assert len(list((tmp_path / "state/components").iterdir())) == 2
    source.keep_components((), second)
    assert len(list((tmp_path / "state/components").iterdir())) == 1


def test_a_component_is_on_the_disk_before_it_has_its_name(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves it whole or leaves it out: each file and folder, then the name."""
    done: list[str] = []
    sync, rename = os.fsync, Path.rename

    def synced(number: int) -> None:
        done.append(Path(f"/proc/self/fd/{number}").readlink().name)
        sync(number)

    def renamed(path: Path, target: Path) -> Path:
        done.append("renamed")
        return rename(path, target)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    found = source.fetch(None, None)
    name = str(found.deployments[0].components[0].source).split("/")[1]
    assert done == ["compose.yaml", name, "renamed", "components"]


def test_what_was_verified_can_be_restored_without_git(source: Source) -> None:
    """After a restart the site goes on from the store's copy."""
    found = source.fetch(None, None)
    again = source.restore(found.commit, found.tree, found.texts, found.site_text, {})
    assert isinstance(again, Desired)
    assert [one.revision for one in again.deployments] == [
        one.revision for one in found.deployments
    ]
