"""What is left of a delivery once the door has checked it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BRANCHES: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
NOWHERE: Final = "0" * 40  # where a ref points once it was taken away


@dataclass(frozen=True, slots=True)
class Push:
    """One push as its forge tells it; `repository` is the URL that matched, or the first given."""

    forge: str
    repository: str
    ref: str
    commit: str
    delivery: str

    @property
    def branch(self) -> str | None:
        """The branch pushed to, or None for a tag or another ref."""
        return self.ref.removeprefix(BRANCHES) if self.ref.startswith(BRANCHES) else None

    @property
    def deletes(self) -> bool:
        """Whether the push took the ref away (SHA-1 or SHA-256: nothing but zeros)."""
        return self.commit != "" and set(self.commit) == {"0"}
