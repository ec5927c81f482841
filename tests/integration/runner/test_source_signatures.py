"""Who may change what runs here: real commits, signed with real SSH keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.source import Clone, Desired, Halted, Source
from tests.support.repository import STOREFRONT
from tests.support.signed_repository import NOBODY, STRANGER, TRUSTED, Signed, source_of

DOCUMENT = f"deployments/harbor/{STOREFRONT}.yaml"

pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is not on this machine"
)


@pytest.fixture
def repository(tmp_path: Path) -> Signed:
    """Storefront 1.0.0 for harbor, signed by whom we trust."""
    made = Signed(tmp_path)
    made.deploy("1.0.0")
    made.push_by(TRUSTED)
    return made


@pytest.fixture
def source(tmp_path: Path, repository: Signed) -> Source:
    """Harbor's view of it, with a list of signers."""
    return source_of(tmp_path / "state", repository)


def halts(
    source: Source, last: Desired | None, path: str, commit: str, accepted: str | None = None
) -> None:
    """The reason names the path and the commit that nobody vouches for."""
    with pytest.raises(Halted, match="no allowed signer") as halted:
        source.fetch(last, accepted)
    assert f"{path}: last changed by {commit[:12]}" in str(halted.value)


def write(path: str, text: str) -> Callable[[Signed], None]:
    """A change of one file."""
    return lambda repository: repository.write(path, text)


@pytest.mark.parametrize("who", [NOBODY, STRANGER])
@pytest.mark.parametrize(
    ("path", "change"),
    [
        (DOCUMENT, lambda repository: repository.deploy("1.1.0", number=1)),
        (DOCUMENT, lambda repository: repository.remove(DOCUMENT)),
        ("sites/harbor.yaml", write("sites/harbor.yaml", "drain: true\n")),
        ("secrets/harbor/pin.age", write("secrets/harbor/pin.age", "x\n")),
        ("deployments/harbor/README", write("deployments/harbor/README", "hello\n")),
    ],
    ids=["changed", "removed", "site", "secret", "any file"],
)
def test_what_an_untrusted_commit_changed_halts(
    source: Source, repository: Signed, who: str, path: str, change: Callable[[Signed], None]
) -> None:
    """Every path of the site's subtree counts, and so does its removal; for a new runner too."""
    before = source.fetch(None, None)
    change(repository)
    commit = repository.push_by(who)
    halts(source, before, path, commit)
    halts(source_of(repository.bare.parent / "fresh", repository), None, path, commit)


def test_other_sites_and_folders_are_not_ours_to_judge(source: Source, repository: Signed) -> None:
    """Nobody's signature is asked for where nothing of this site changed."""
    before = source.fetch(None, None)
    repository.deploy("1.0.0", site="depot")
    repository.write("sites/depot.yaml", "drain: true\n")
    repository.write("README.md", "hello\n")
    commit = repository.push_by(NOBODY)
    assert source.fetch(before, None).commit == commit


@pytest.mark.parametrize("where", ["README.md", "sites/harbor.yaml", "nowhere"])
def test_a_trusted_commit_on_top_launders_nothing(
    source: Source, repository: Signed, where: str
) -> None:
    """Elsewhere, at another path of the site, or empty: the content below is still a stranger's."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    commit = repository.push_by(STRANGER)
    if where != "nowhere":
        repository.write(where, "drain: false\n")
    repository.push_by(TRUSTED)
    halts(source, before, DOCUMENT, commit)


def test_a_trusted_commit_that_replaces_the_content_ends_the_halt(
    source: Source, repository: Signed
) -> None:
    """From then on the site goes on."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    halts(source, before, DOCUMENT, repository.push_by(STRANGER))
    repository.deploy("1.2.0", number=2)
    repository.push_by(TRUSTED)
    assert source.fetch(before, None).deployments[0].version == "1.2.0"


def test_a_trusted_commit_that_removes_the_content_ends_the_halt(
    source: Source, repository: Signed
) -> None:
    """A stranger's file beside the documents, taken away again."""
    before = source.fetch(None, None)
    repository.write("secrets/harbor/pin.age", "x\n")
    halts(source, before, "secrets/harbor/pin.age", repository.push_by(NOBODY))
    repository.remove("secrets/harbor/pin.age")
    commit = repository.push_by(TRUSTED)
    assert source.fetch(before, None).commit == commit


def test_an_untrusted_commit_that_puts_things_back_ends_nothing(
    source: Source, repository: Signed
) -> None:
    """The same bytes as before, but last changed by a stranger: only somebody trusted ends it."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    repository.push_by(STRANGER)
    repository.deploy("1.0.0")
    commit = repository.push_by(STRANGER)
    halts(source, before, DOCUMENT, commit)


def test_an_untrusted_return_to_older_trusted_content_halts(
    source: Source, repository: Signed
) -> None:
    """What somebody trusted wrote long ago may have been withdrawn for a reason."""
    repository.deploy("1.1.0", number=1)
    repository.push_by(TRUSTED)
    before = source.fetch(None, None)
    repository.deploy("1.0.0")
    halts(source, before, DOCUMENT, repository.push_by(NOBODY))


@pytest.mark.parametrize("theirs_first", [False, True])
def test_a_trusted_merge_launders_nothing(
    source: Source, repository: Signed, theirs_first: bool
) -> None:
    """Neither the press of a merge button nor a pull before a push vouches for what it brings."""
    before = source.fetch(None, None)
    repository.branch("theirs")
    repository.deploy("1.1.0", number=1)
    stranger = repository.commit("--no-gpg-sign")
    repository.branch("ours", "main")
    repository.write("README.md", "ours\n")
    repository.commit(*repository.signed_by(TRUSTED))
    if theirs_first:
        repository.branch("main", "theirs")
        repository.merge("ours", TRUSTED)
    else:
        repository.branch("main", "ours")
        repository.merge("theirs", TRUSTED)
    repository.publish()
    halts(source, before, DOCUMENT, stranger)
    halts(source_of(repository.bare.parent / "fresh", repository), None, DOCUMENT, stranger)


def test_a_trusted_merge_that_leaves_theirs_out_is_taken(
    source: Source, repository: Signed
) -> None:
    """What it did not take is nowhere in the tree."""
    before = source.fetch(None, None)
    repository.branch("theirs")
    repository.deploy("1.1.0", number=1)
    repository.commit("--no-gpg-sign")
    repository.branch("main", "main")
    repository.write("README.md", "ours\n")
    repository.commit(*repository.signed_by(TRUSTED))
    merged = repository.merge("theirs", TRUSTED, "-s", "ours")
    repository.publish()
    assert source.fetch(before, None).commit == merged


def test_a_trusted_branch_merged_by_somebody_trusted_is_taken(
    source: Source, repository: Signed
) -> None:
    """The everyday case."""
    before = source.fetch(None, None)
    repository.branch("theirs")
    repository.deploy("1.1.0", number=1)
    repository.commit(*repository.signed_by(TRUSTED))
    repository.branch("main", "main")
    repository.merge("theirs", TRUSTED)
    repository.publish()
    assert source.fetch(before, None).deployments[0].version == "1.1.0"


@pytest.mark.parametrize("who", [NOBODY, STRANGER])
def test_an_untrusted_merge_cannot_choose_older_trusted_content(
    source: Source, repository: Signed, who: str
) -> None:
    """Both sides are trusted, the choice between them is not."""
    repository.branch("old")
    repository.branch("main", "main")
    repository.deploy("1.1.0", number=1)
    repository.push_by(TRUSTED)
    before = source.fetch(None, None)
    repository.branch("old", "old")
    repository.commit("--no-gpg-sign")
    merged = repository.merge("main", who, "-s", "ours")
    repository.publish()
    halts(source, before, DOCUMENT, merged)
    halts(source_of(repository.bare.parent / "fresh", repository), None, DOCUMENT, merged)


def test_a_stranger_becomes_trusted_by_the_list_alone(source: Source, repository: Signed) -> None:
    """The same commit is taken once its key stands there; a key that is gone counts no more."""
    before = source.fetch(None, None)
    repository.deploy("1.1.0", number=1)
    commit = repository.push_by(STRANGER)
    halts(source, before, DOCUMENT, commit)
    repository.trust(TRUSTED, STRANGER)
    after = source.fetch(before, None)
    assert after.commit == commit
    repository.trust(TRUSTED)
    repository.push_by(TRUSTED)
    halts(source, after, DOCUMENT, commit)


def test_a_list_that_is_not_there_trusts_nobody(source: Source, repository: Signed) -> None:
    """The reason names the file."""
    repository.signers.unlink()
    with pytest.raises(Halted, match="signers"):
        source.fetch(None, None)


def test_only_new_commits_are_looked_at_again(
    source: Source, repository: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push costs what it brings, however long the history is."""
    before = first = source.fetch(None, None)
    verified: list[str] = []
    read: list[str] = []
    log = Clone.log

    def counting(clone: Clone, *words: str, **options: tuple[str, ...]) -> str:
        commits = [word for word in words if not word.startswith("-") and "/" not in word]
        (verified if "--no-walk=unsorted" in words else read).extend(commits)
        return log(clone, *words, **options)

    monkeypatch.setattr(Clone, "log", counting)
    repository.deploy("1.1.0", number=1)
    commit = repository.push_by(TRUSTED)
    before = source.fetch(before, None)
    repository.write("README.md", "nothing of ours\n")
    repository.push_by(NOBODY)
    source.fetch(before, None)
    assert verified == [commit]
    assert read == [f"{first.commit}..{commit}"]


def test_rewritten_history_that_is_accepted_is_verified_all_the_same(
    source: Source, repository: Signed
) -> None:
    """Accepting says that the rewriting was meant, not that anybody may sign."""
    repository.deploy("1.1.0", number=1)
    repository.push_by(TRUSTED)
    before = source.fetch(None, None)
    commit = repository.rewrite()
    with pytest.raises(Halted, match="history was rewritten"):
        source.fetch(before, None)
    halts(source, before, DOCUMENT, commit, accepted=commit)
