"""What the runner takes from Git, and what makes it halt: on real repositories."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from margrave import digest
from margrave.errors import MargraveError, Unreachable
from margrave.secret import Secret
from runner.source import Access, Clone, Components, Desired, Halted, Source
from tests.support.repository import STOREFRONT, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with storefront 1.0.0 for harbor."""
    made = Repository(tmp_path)
    made.deploy("1.0.0")
    made.push()
    return made


@pytest.fixture
def source(tmp_path: Path, repository: Repository) -> Source:
    """Harbor's view of it."""
    return make_source(tmp_path, repository)


def make_source(base: Path, repository: Repository, **options: str) -> Source:
    """A source with a clone and components below a folder."""
    clone = Clone(base / "state/source.git", Access(str(repository.bare)))
    return Source("harbor", clone, Components(base / "state/components"), **options)


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


def rot(folder: Path) -> None:
    """Every object is something else."""
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"rot")


def cut(folder: Path) -> None:
    """The disk was full, or the power went: files are there and short."""
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def hollow(folder: Path) -> None:
    """References are there, objects are not."""
    shutil.rmtree(folder / "objects")
    (folder / "objects").mkdir()


def headless(folder: Path) -> None:
    """A clone that was begun and never got its HEAD."""
    (folder / "HEAD").unlink()


def empty_reference(folder: Path) -> None:
    """A reference that was being written."""
    (folder / "refs/remotes/origin/head").write_text("")


def locked(folder: Path) -> None:
    """A git that was killed left its locks."""
    for name in ("refs/remotes/origin/head.lock", "packed-refs.lock", "shallow.lock"):
        (folder / name).write_text("")


def not_a_clone(folder: Path) -> None:
    """Somebody put a file there."""
    shutil.rmtree(folder)
    folder.write_text("")


DAMAGES = [rot, cut, hollow, headless, empty_reference, locked, not_a_clone]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("moved", [False, True], ids=["the same commit", "a newer commit"])
@pytest.mark.parametrize("running", [False, True], ids=["at start", "while it runs"])
def test_a_broken_clone_is_made_again(
    repository: Repository,
    tmp_path: Path,
    damage: Callable[[Path], None],
    moved: bool,
    running: bool,
) -> None:
    """Everything in the clone can be had again: at the latest the second look heals it."""
    source = make_source(tmp_path, repository)
    before = source.fetch(None, None)
    damage(tmp_path / "state/source.git")
    if moved:
        repository.deploy("1.1.0", number=1)
    commit = repository.push()
    if not running:
        source.close()
        source = make_source(tmp_path, repository)
    try:
        found = source.fetch(before, None)
    except MargraveError as error:
        assert not isinstance(error, (Halted, Unreachable)), error
        found = source.fetch(before, None)
    assert (found.commit, found.deployments[0].version) == (
        commit,
        "1.1.0" if moved else "1.0.0",
    )
    source.close()


def commits_in(folder: Path) -> int:
    """How many commits a clone knows."""
    words = ["git", "rev-list", "--count", "refs/remotes/origin/head"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_new_clone_begins_at_the_newest_commit(repository: Repository, tmp_path: Path) -> None:
    """Years of history are not fetched; what comes later is followed from there."""
    for number in range(5):
        repository.write("README.md", str(number))
        repository.push()
    source = make_source(tmp_path, repository)
    first = source.fetch(None, None)
    assert commits_in(tmp_path / "state/source.git") == 1
    repository.push()
    repository.push()
    second = source.fetch(first, None)
    assert second.commit != first.commit
    assert commits_in(tmp_path / "state/source.git") == 3
    source.tidy()
    repository.push()
    third = source.fetch(second, None)
    repository.rewrite()
    with pytest.raises(Halted, match="history was rewritten"):
        source.fetch(third, None)


def test_a_clone_made_anew_knows_what_it_followed(repository: Repository, tmp_path: Path) -> None:
    """A site that lost its clone asks for the history once, and does not call it rewritten."""
    first = make_source(tmp_path, repository).fetch(None, None)
    for _ in range(3):
        commit = repository.push()
    shutil.rmtree(tmp_path / "state/source.git")
    assert make_source(tmp_path, repository).fetch(first, None).commit == commit
    shutil.rmtree(tmp_path / "state/source.git")
    rewritten = repository.rewrite()
    last = make_source(tmp_path, repository)
    assert last.fetch(first, None).commit == rewritten  # what was followed is still in it


def test_a_clone_made_anew_sees_that_history_was_rewritten(
    repository: Repository, tmp_path: Path
) -> None:
    """Although the commit it followed is nowhere to be had."""
    repository.push()
    first = make_source(tmp_path, repository).fetch(None, None)
    repository.rewrite()
    shutil.rmtree(tmp_path / "state/source.git")
    again = make_source(tmp_path, repository)
    with pytest.raises(Halted, match="history was rewritten"):
        again.fetch(first, None)
    commit = repository.push()
    assert again.fetch(first, commit).commit == commit


def test_a_remote_that_is_away_is_unreachable_not_broken(
    source: Source, repository: Repository, tmp_path: Path
) -> None:
    """The clone is not thrown away for a cut line."""
    source.fetch(None, None)
    repository.bare.rename(tmp_path / "elsewhere")
    with pytest.raises(Unreachable):
        source.fetch(None, None)
    assert (tmp_path / "state/source.git/HEAD").is_file()


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


def test_what_was_verified_can_be_restored_without_git(source: Source) -> None:
    """After a restart the site goes on from the store's copy."""
    found = source.fetch(None, None)
    again = source.restore(found.commit, found.tree, found.texts, found.site_text, {})
    assert isinstance(again, Desired)
    assert [one.revision for one in again.deployments] == [
        one.revision for one in found.deployments
    ]
