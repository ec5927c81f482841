"""The bare clone of the deployments repository in the state folder.

Everything in it can be had again from the remote: when it is broken it is made anew. It is kept
when only the line is: over a thin one a fetch is dear.
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
_ANSWER_SECONDS: Final = 120  # for a line or two of text
# A fetch takes as long as the line needs; what stands still is ended by the transport (access.py).
# This is for what neither moves nor ends, as a server that hangs behind a connection that lives.
_FETCH_SECONDS: Final = 6 * 3600
_SHALLOW: Final = "shallow"  # the file that names the commits which a part of a history begins with
_NO_PART: Final = "shallow"  # in what Git says where the remote cannot give a part of the history
# What reading a damaged clone raises: Git's own words, missing objects, truncated files.
BROKEN: Final = (git.GitError, git.exc.ODBError, ValueError, KeyError, OSError)


class Clone:
    """Fetches the branch, and answers questions about commits."""

    def __init__(self, folder: Path, access: Access) -> None:
        self._folder = folder
        self._access = access
        self._opened: git.Repo | None = None
        self._found_sound = False

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
            self._bring(history=history)
        except BROKEN as error:
            self._mend(error)
            try:
                self._bring(history=history)
            except BROKEN as again:
                raise self._unreachable(again) from again
        self._found_sound = False
        return self.repository.commit(_HEAD).hexsha

    def commit(self, name: str) -> git.Commit:
        """A commit that has been fetched."""
        return self.repository.commit(name)

    def leads_to(self, older: str, newer: str) -> bool:
        """Whether the newer commit has the older one in its history; BROKEN if none can tell."""
        if older == newer or self._is_ancestor(older, newer):
            return True
        if self._is_shallow() and not self._is_ancestor(older, _VERIFIED):
            # A clone that was made anew begins at its newest commit: the rest is asked for now.
            # That the older one is here says nothing: it may be left of a fetch that broke off.
            try:
                self._fetch(("--unshallow",))
            except BROKEN as error:
                raise self._unreachable(error) from error
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

    def beginnings(self) -> frozenset[str]:
        """The commits that a part of the history begins with; none where all of it is here."""
        try:
            return frozenset((self._folder / _SHALLOW).read_text(encoding="ascii").split())
        except FileNotFoundError:
            return frozenset()

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
            # For want of room, maybe: then it is as good as it was.
            if not self.is_sound():
                self.discard()

    def is_sound(self) -> bool:
        """Whether all that it should hold is there and whole. Reads everything, so ask seldom."""
        if not self._found_sound:
            self.close()
            try:
                # Not the way that makes a new clone where it finds none.
                opened = git.Repo(self._folder)
                opened.git.update_environment(**self._access.environment())
                opened.git.execute(["git", "fsck", "--no-dangling", "--no-progress"])
            except BROKEN:
                return False
            self._found_sound = True
        return self._found_sound

    def discard(self) -> None:
        """Throw the clone away; the next fetch makes it anew."""
        self._found_sound = False
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
        return (self._folder / _SHALLOW).exists()

    def _bring(self, *, history: bool) -> None:
        depth = self._depth(history=history)
        try:
            self._fetch(depth)
        except git.GitCommandError as error:
            if not depth or _NO_PART not in str(error.stderr):
                raise
            self._fetch()

    def _fetch(self, depth: Sequence[str] = ()) -> None:
        refspec = f"+refs/heads/{self._access.branch}:{_HEAD}"
        self.repository.git.fetch(
            "--quiet", "--no-tags", "--no-write-fetch-head", *depth, "--", self._access.remote,
            refspec,
            kill_after_timeout=_FETCH_SECONDS,
        )  # fmt: skip
        self.repository.commit(_HEAD).tree.binsha  # noqa: B018 - reads the objects it needs

    def _mend(self, cause: Exception) -> None:
        """After a failed fetch: put the clone right, or Unreachable where it is not at fault."""
        if self.remote_head() is None:
            raise Unreachable(
                f"{self._access.remote}: has no branch {self._access.branch}", "push it"
            ) from cause
        if self._sweep():
            return
        if self.is_sound():
            raise self._unreachable(cause) from cause
        self.discard()

    def _sweep(self) -> bool:
        """Remove what a killed git left: nobody else works here. Whether a lock was among it."""
        for path in (self._folder / "objects").rglob("tmp_*"):
            path.unlink(missing_ok=True)
        locks = list(self._folder.rglob("*.lock"))
        for path in locks:
            path.unlink(missing_ok=True)
        return bool(locks)

    def _local(self, *words: str, istream: int | None = None) -> str:
        """Ask the clone alone; git.GitError when it is broken."""
        return str(self.repository.git.execute(["git", *words], istream=istream))

    def _run(self, runner: git.Git, *words: str) -> str:
        try:
            return str(
                runner.execute(
                    ["git", *words],
                    env=self._access.environment(),
                    kill_after_timeout=_ANSWER_SECONDS,
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
        said = str(getattr(error, "stderr", "") or error)
        if git_words.refuses_login(said):
            self._renew()
            who, what = (
                ("the controller", "token") if self._access.is_controller else ("it", "login")
            )
            return Unreachable(
                f"{self._access.remote}: {who} refused this {what}",
                "check git.username and git.password (a controller takes the site's token)",
            )
        cure = "check git.remote, its credentials and the network"
        return Unreachable(f"{self._access.remote}: {git_words.reason(said)}", cure)

    def _renew(self) -> None:
        """Use another password from the next call on, where the configuration has one by now."""
        renewed = self._access.renewed()
        if renewed is not None:
            self._access = renewed
            self.close()  # what is open has the old one in its environment
