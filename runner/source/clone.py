"""The bare clone of the deployments repository in the state folder.

Everything in it can be had again from the remote: whatever is wrong with it, it is made anew.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import git

from margrave import git_words
from margrave.errors import Unreachable
from runner.source.access import Access

__all__ = ["BROKEN", "Access", "Clone"]

_HEAD: Final = "refs/remotes/origin/head"
# Keeps the commit that was verified last from being tidied away after a force-push.
_VERIFIED: Final = "refs/margrave/verified"
_SECONDS: Final = 120
# What reading a damaged clone raises: Git's own words, missing objects, truncated files.
BROKEN: Final = (git.GitError, git.exc.ODBError, ValueError, KeyError, OSError)


class Clone:
    """Fetches the branch, and answers questions about commits."""

    def __init__(self, folder: Path, access: Access) -> None:
        self._folder = folder
        self._access = access
        self._opened: git.Repo | None = None

    def remote_head(self) -> str | None:
        """The branch's commit at the remote, or None when there is no such branch."""
        ref = f"refs/heads/{self._access.branch}"
        text = self._run(git.Git(), "ls-remote", "--", self._access.remote, ref)
        return text.split()[0] if text.strip() else None

    def fetch(self, *, history: bool = True) -> str:
        """Bring the branch here, in one process; its commit.

        Without `history` a new clone begins at the newest commit, where the remote can do that.
        """
        try:
            self._fetch(self._depth(history=history))
        except BROKEN as error:
            self._fetch_anew(error)
        return self.repository.commit(_HEAD).hexsha

    def commit(self, name: str) -> git.Commit:
        """A commit that has been fetched."""
        return self.repository.commit(name)

    def holds(self, commit: str) -> bool:
        """Whether the commit is here."""
        return self._status("cat-file", "-e", f"{commit}^{{commit}}") == 0

    def leads_to(self, older: str, newer: str) -> bool:
        """Whether the newer commit has the older one in its history; BROKEN if none can tell."""
        if older == newer or self._is_ancestor(older, newer):
            return True
        if self._is_shallow() and not self.holds(older):
            # A clone that was made anew begins at its newest commit: the rest is asked for now.
            self._fetch(("--unshallow",))
            if self._is_ancestor(older, newer):
                return True
        # A clone with a hole must not pass for a history that was rewritten.
        self._local("rev-list", "--quiet", newer, "--")
        return False

    def mark_verified(self, commit: str) -> None:
        """Remember the commit, so that a later fetch can be compared with it."""
        self.repository.git.update_ref(_VERIFIED, commit)

    def log(self, *arguments: str, config: tuple[str, ...] = ()) -> str:
        """`git log` in the clone."""
        words = [word for entry in config for word in ("-c", entry)]
        return self._local(*words, "log", *arguments)

    def graph(self, *revisions: str) -> dict[str, tuple[str, ...]]:
        """Commits and their parents, children before parents."""
        text = self._local("rev-list", "--topo-order", "--parents", *revisions, "--")
        rows = (line.split() for line in text.splitlines())
        return {commit: tuple(parents) for commit, *parents in rows}

    def differences(
        self, graph: Mapping[str, tuple[str, ...]], paths: Sequence[str]
    ) -> Iterator[str]:
        """For each commit and each of its parents: the commit, then the paths that differ."""
        with tempfile.TemporaryFile() as pairs:
            for commit, parents in graph.items():
                lines = [f"{commit} {parent}\n" for parent in parents] or [f"{commit}\n"]
                pairs.writelines(line.encode() for line in lines)
            pairs.seek(0)
            text = self._local(
                "diff-tree", "--stdin", "--root", "--always", "-r", "-z", "--name-only",
                "--no-renames", "--", *paths, istream=pairs.fileno(),
            )  # fmt: skip
        return filter(None, text.split("\0"))

    def tidy(self) -> None:
        """Pack what has gathered; call it when nothing is waiting."""
        try:
            self.repository.git.gc("--quiet")
        except BROKEN:
            # A clone that cannot be packed is of no use: it is made anew by the next fetch.
            self.discard()

    def discard(self) -> None:
        """Throw the clone away; the next fetch makes it anew."""
        self.close()
        self._remove()

    def close(self) -> None:
        """End the helper processes that read objects."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def repository(self) -> git.Repo:
        """The clone, opened or made."""
        if self._opened is None:
            self._opened = self._open()
            self._opened.git.update_environment(**self._access.environment())
        return self._opened

    def _open(self) -> git.Repo:
        try:
            return git.Repo(self._folder)
        except (git.InvalidGitRepositoryError, git.NoSuchPathError):
            self._remove()
            return git.Repo.init(self._folder, mkdir=True, bare=True)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._folder.is_file():
            self._folder.unlink()

    def _depth(self, *, history: bool) -> tuple[str, ...]:
        if history:
            return ("--unshallow",) if self._is_shallow() else ()
        # Loose or packed: a clone that was fetched into has refs. Asking Git would take longer.
        begun = any((self._folder / one).exists() for one in (_HEAD, "packed-refs"))
        return () if begun else ("--depth=1",)

    def _is_shallow(self) -> bool:
        return (self._folder / "shallow").exists()

    def _fetch(self, depth: Sequence[str] = ()) -> None:
        refspec = f"+refs/heads/{self._access.branch}:{_HEAD}"
        self.repository.git.fetch(
            "--quiet", "--no-tags", "--no-write-fetch-head", *depth, "--", self._access.remote,
            refspec,
            kill_after_timeout=_SECONDS,
        )  # fmt: skip
        self.repository.commit(_HEAD).tree.binsha  # noqa: B018 - reads the objects it needs

    def _fetch_anew(self, cause: Exception) -> None:
        """After a failed fetch: when the remote does answer, it is the clone that is broken."""
        if self.remote_head() is None:
            raise Unreachable(
                f"{self._access.remote}: has no branch {self._access.branch}", "push it"
            ) from cause
        self.discard()
        try:
            self._fetch()  # whole: not every remote gives a part
        except BROKEN as error:
            raise self._unreachable(error) from error

    def _local(self, *words: str, istream: int | None = None) -> str:
        """Ask the clone alone; git.GitError when it is broken."""
        return str(self.repository.git.execute(["git", *words], istream=istream))

    def _run(self, runner: git.Git, *words: str) -> str:
        try:
            return str(
                runner.execute(
                    ["git", *words],
                    env=self._access.environment(),
                    kill_after_timeout=_SECONDS,
                )
            )
        except git.GitError as error:
            raise self._unreachable(error) from error

    def _is_ancestor(self, older: str, newer: str) -> bool:
        return self._status("merge-base", "--is-ancestor", older, newer) == 0

    def _status(self, *words: str) -> int:
        """The exit status of a question; what is missing and what is not so look alike."""
        status, _, _ = self.repository.git.execute(
            ["git", *words], with_extended_output=True, with_exceptions=False
        )
        return int(status)

    def _unreachable(self, error: Exception) -> Unreachable:
        why = git_words.reason(str(getattr(error, "stderr", "") or error))
        cure = "check git.remote, its credentials and the network"
        return Unreachable(f"{self._access.remote}: {why}", cure)
