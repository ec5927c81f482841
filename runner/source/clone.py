"""The bare clone of the deployments repository in the state folder.

Everything in it can be had again from the remote: whatever is wrong with it, it is made anew.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import git

from margrave.errors import Unreachable
from runner.source.access import Access

__all__ = ["Access", "Clone"]

_HEAD: Final = "refs/remotes/origin/head"
# Keeps the commit that was verified last from being tidied away after a force-push.
_VERIFIED: Final = "refs/margrave/verified"
_SECONDS: Final = 120


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

    def fetch(self) -> str:
        """Bring the branch here, in one process; its commit."""
        try:
            self._fetch()
        except (git.GitError, OSError) as error:
            self._fetch_anew(error)
        return self.repository.commit(_HEAD).hexsha

    def commit(self, name: str) -> git.Commit:
        """A commit that has been fetched."""
        return self.repository.commit(name)

    def holds(self, commit: str) -> bool:
        """Whether the commit is here."""
        return self._answers("cat-file", "-e", f"{commit}^{{commit}}")

    def leads_to(self, older: str, newer: str) -> bool:
        """Whether the newer commit has the older one in its history."""
        if older == newer:
            return True
        return self._answers("merge-base", "--is-ancestor", older, newer)

    def mark_verified(self, commit: str) -> None:
        """Remember the commit, so that a later fetch can be compared with it."""
        self.repository.git.update_ref(_VERIFIED, commit)

    def log(self, *arguments: str, config: tuple[str, ...] = ()) -> str:
        """`git log` in the clone."""
        words = [word for entry in config for word in ("-c", entry)]
        return self._run(self.repository.git, *words, "log", *arguments)

    def tidy(self) -> None:
        """Pack what has gathered; call it when nothing is waiting."""
        try:
            self.repository.git.gc("--quiet")
        except (git.GitError, OSError):
            # A clone that cannot be packed is of no use: it is made anew by the next fetch.
            self.discard()

    def discard(self) -> None:
        """Throw the clone away; the next fetch makes it anew."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

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
            shutil.rmtree(self._folder, ignore_errors=True)
            return git.Repo.init(self._folder, mkdir=True, bare=True)

    def _fetch(self) -> None:
        refspec = f"+refs/heads/{self._access.branch}:{_HEAD}"
        self.repository.git.fetch(
            "--quiet", "--no-tags", "--no-write-fetch-head", "--", self._access.remote, refspec,
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
            self._fetch()
        except (git.GitError, OSError) as error:
            raise self._unreachable(error) from error

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

    def _answers(self, *words: str) -> bool:
        status, _, _ = self.repository.git.execute(
            ["git", *words], with_extended_output=True, with_exceptions=False
        )
        return status == 0

    def _unreachable(self, error: Exception) -> Unreachable:
        said = str(getattr(error, "stderr", "") or error).strip()
        line = said.replace("stderr:", "").strip(" '\n").splitlines()
        reason = line[-1].strip() if line else "git said nothing"
        return Unreachable(
            f"{self._access.remote}: {reason}", "check git.remote, its credentials and the network"
        )
