"""The exception tree.

MargraveError               whatever this product refuses or cannot do, with the cure
    DocumentError           a document has findings; all of them at once
    SettingsError           a configuration has findings; all of them at once
    UnsafeArchive           an archive or folder holds what must not be unpacked
    Refused                 not allowed, or not in this state
    NotFound                the thing named does not exist
    Conflict                somebody else's claim or change stands in the way
    Unreachable             another machine or service did not answer
    SecretsUnread           secrets of a site cannot be read now
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from margrave.findings import Finding


class MargraveError(Exception):
    """Something the product refuses or cannot do; `cure` says what would help, or is empty."""

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure

    def __str__(self) -> str:
        return f"{self.message} ({self.cure})" if self.cure else self.message


class _WithFindings(MargraveError):
    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda one: one.order))
        super().__init__("\n".join(str(one) for one in self.findings))


class DocumentError(_WithFindings):
    """A document cannot be taken as it stands."""


class SettingsError(_WithFindings):
    """A configuration cannot be started with."""


class UnsafeArchive(MargraveError):
    """An archive or folder holds a link, a device, a path that leads out, or too much."""


class Refused(MargraveError):
    """Not allowed, or not possible in the present state."""


class NotFound(MargraveError):
    """The thing named does not exist."""


class Conflict(MargraveError):
    """Somebody else's claim or change stands in the way."""


class Unreachable(MargraveError):
    """Another machine or service did not answer."""


class SecretsUnread(MargraveError):
    """Secrets that cannot be read now: whether they changed, or are gone, is not known."""
