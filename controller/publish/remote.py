"""The outside remote: how it is reached, fetched from and pushed to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from controller.gate.git_command import BRANCH, GitCommand, GitFailed
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from pathlib import Path

    from controller.settings import Git

# Reads the environment, so that no argument list and no file holds the password.
_HELPER: Final = (
    '!f() { echo "username=$MARGRAVE_GIT_USER"; echo "password=$MARGRAVE_GIT_PASSWORD"; }; f'
)
_LOST: Final = ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "[rejected]")


class Remote:
    """The branch main of a repository elsewhere; `folder` is the copy of it here."""

    def __init__(self, folder: Path, settings: Git) -> None:
        assert settings.remote
        self.url = settings.remote
        self._git = GitCommand(folder, _configuration(settings))
        self._extra = _secrets(settings)

    def fetch(self) -> None:
        """Bring the branch here; Unreachable when the remote does not answer."""
        try:
            found = self._git("ls-remote", "--", self.url, BRANCH, extra=self._extra)
            if not found.strip():
                return  # an empty repository: the first publish makes the branch
            refspec = f"+{BRANCH}:{BRANCH}"
            self._git("fetch", "--quiet", "--no-tags", "--", self.url, refspec, extra=self._extra)
        except GitFailed as error:
            raise Unreachable(str(error), "check git.remote and its credentials") from error

    def push(self, commit: str) -> bool:
        """Make the commit the branch's head; False when somebody else was quicker."""
        try:
            self._git("push", "--quiet", "--", self.url, f"{commit}:{BRANCH}", extra=self._extra)
        except GitFailed as error:
            if any(word in error.words for word in _LOST):
                return False
            raise Unreachable(str(error), "check git.remote and its credentials") from error
        return True


def _configuration(settings: Git) -> dict[str, str]:
    found = {}
    if settings.password is not None:
        found["credential.helper"] = _HELPER
    if settings.ca_file is not None:
        found["http.sslCAInfo"] = str(settings.ca_file)
    return found


def _secrets(settings: Git) -> dict[str, str]:
    """What travels by environment, where no process list shows it."""
    found = {}
    if settings.password is not None:
        found["MARGRAVE_GIT_USER"] = settings.username or "margrave"
        found["MARGRAVE_GIT_PASSWORD"] = settings.password.reveal()
    if settings.ssh_key is not None:
        options = ["-o IdentitiesOnly=yes", "-o BatchMode=yes", "-o StrictHostKeyChecking=yes"]
        if settings.known_hosts is not None:
            options.append(f"-o UserKnownHostsFile='{settings.known_hosts}'")
        found["GIT_SSH_COMMAND"] = f"ssh -i '{settings.ssh_key}' {' '.join(options)}"
    return found
