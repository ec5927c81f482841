"""The outside remote: how it is reached, fetched from and pushed to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from controller import measures
from controller.gate import lines
from controller.gate.git_command import BRANCH, GitCommand, GitFailed, NoSpace
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from pathlib import Path

    from controller.settings import Git

# Reads the environment, so that no argument list and no file holds the password.
_HELPER: Final = (
    '!f() { echo "username=$MARGRAVE_GIT_USER"; echo "password=$MARGRAVE_GIT_PASSWORD"; }; f'
)
# What the remote's main was when it was last fetched; main itself is what the controller took.
TRACKED: Final = "refs/remotes/origin/main"
PROPOSALS: Final = "margrave/"  # branches that wait to be merged begin with it
_HEADS: Final = "refs/heads/"
_NO_BRANCH: Final = "couldn't find remote ref"
_LOST: Final = ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "[rejected]")


class PushRefused(Unreachable):
    """A rule of the remote stands in the way of one push; others may come through."""


class Remote:
    """The branch main of a repository elsewhere; `folder` is the copy of it here."""

    def __init__(self, folder: Path, settings: Git) -> None:
        assert settings.remote
        self.url = settings.remote
        self._git = GitCommand(folder, _configuration(settings))
        self._extra = _secrets(settings)

    def fetch(self) -> str | None:
        """The branch's head as it is now, brought here; None when there is no such branch.

        Unreachable when the remote does not answer, or answers with what cannot be read.
        """
        try:
            refspec = f"+{BRANCH}:{TRACKED}"
            with measures.GIT.of("fetch"):
                self._git(
                    "fetch", "--quiet", "--no-tags", "--", self.url, refspec, extra=self._extra
                )
        except GitFailed as error:
            if _NO_BRANCH in error.words:
                return None  # an empty repository: the first publish makes the branch
            raise _unreachable(error) from error
        return self._git.text("for-each-ref", "--format=%(objectname)", TRACKED) or None

    def push(self, commit: str) -> bool:
        """Make the commit the branch's head; False when somebody else was quicker."""
        return self._pushed(f"{commit}:{BRANCH}")

    def proposals(self) -> dict[str, str]:
        """The branches that wait to be merged, each with its head."""
        listed = self._ask("ls-remote", "--", self.url, f"{_HEADS}{PROPOSALS}*").decode()
        pairs = [line.split("\t") for line in listed.splitlines()]
        return {name.removeprefix(_HEADS): commit for commit, name in pairs}

    def propose(self, name: str, commit: str | None, old: str | None) -> bool:
        """Make the commit (None: nothing) the head of a branch that is at `old` (None: not there);
        False when it is elsewhere."""
        reference = f"{_HEADS}{name}"
        lease = f"--force-with-lease={reference}:{old or ''}"
        return self._pushed(f"{commit or ''}:{reference}", lease)

    def _pushed(self, refspec: str, *options: str) -> bool:
        try:
            with measures.GIT.of("push"):
                self._git("push", "--quiet", *options, "--", self.url, refspec, extra=self._extra)
        except GitFailed as error:
            if any(word in error.words for word in _LOST):
                return False
            raise _unreachable(error) from error
        return True

    def _ask(self, *arguments: str) -> bytes:
        try:
            with measures.GIT.of(arguments[0]):
                return self._git(*arguments, extra=self._extra)
        except GitFailed as error:
            raise _unreachable(error) from error


def _unreachable(error: GitFailed) -> MargraveError:
    """The remote's own words where it gave some: they say which rule of it stands in the way."""
    if isinstance(error, NoSpace):
        return error
    told = [line[len("remote:") :].strip() for line in error.words.splitlines()
            if line.startswith("remote:")]  # fmt: skip
    if "[remote rejected]" in error.words:
        words = "; ".join(one for one in told if one) or str(error)
        cure = 'let the controller push to it, or write mode = "branch" under [git]'
        return PushRefused(f"the remote refuses the push: {words}", cure)
    return Unreachable(str(error), "check git.remote and its credentials")


def _configuration(settings: Git) -> dict[str, str]:
    found = dict(lines.PATIENCE)
    if settings.password is not None:
        found["credential.helper"] = _HELPER
    if settings.ca_file is not None:
        found["http.sslCAInfo"] = str(settings.ca_file)
    if settings.cert is not None:
        found |= {"http.sslCert": str(settings.cert), "http.sslKey": str(settings.key)}
    return found


def _secrets(settings: Git) -> dict[str, str]:
    """What travels by environment, where no process list shows it."""
    found = {"GIT_SSH_COMMAND": lines.ssh(settings.ssh_key, settings.known_hosts)}
    if settings.password is not None:
        found["MARGRAVE_GIT_USER"] = settings.username or "margrave"
        found["MARGRAVE_GIT_PASSWORD"] = settings.password.reveal()
    return found
