"""A repository whose commits are signed with real SSH keys, and a site that trusts some of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from runner.source import Access, Clone, Components, Source
from tests.support.repository import Repository

TRUSTED, STRANGER, NOBODY = "trusted", "stranger", ""


class Signed(Repository):
    """A repository whose commits are signed by one of two people, or by nobody."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.signers = base / "signers"
        self._git("config", "gpg.format", "ssh")
        for who in (TRUSTED, STRANGER):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(base / who)]
            subprocess.run(words, check=True)
        self.trust(TRUSTED)

    def trust(self, *people: str) -> None:
        """Write the list of allowed signers."""
        keys = [(self.signers.parent / f"{one}.pub").read_text() for one in people]
        self.signers.write_text("".join(f"ops@example.org {key}" for key in keys))

    def push_by(self, who: str) -> str:
        """Commit all, signed by this person, and push; the commit."""
        commit = self.commit(*self.signed_by(who), message=f"by {who or 'nobody'}")
        self.publish()
        return commit

    def publish(self) -> None:
        """Push what was committed."""
        self._git("push", "-q", "origin", "HEAD:main")

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Go on at another branch."""
        self._git("checkout", "-q", "-B", name, start)

    def merge(self, other: str, who: str, *options: str) -> str:
        """Merge another branch, signed by this person; the commit."""
        self._git("merge", "-q", "--no-ff", "--no-edit", *options, *self.signed_by(who), other)
        return self._git("rev-parse", "HEAD")

    def signed_by(self, who: str) -> list[str]:
        """How a commit of this person is made."""
        return [f"-S{self.signers.parent / who}"] if who else ["--no-gpg-sign"]


def source_of(folder: Path, repository: Signed) -> Source:
    """A site's view, with nothing remembered."""
    clone = Clone(folder / "source.git", Access(str(repository.bare)))
    signers = str(repository.signers)
    return Source("harbor", clone, Components(folder / "components"), signers)
