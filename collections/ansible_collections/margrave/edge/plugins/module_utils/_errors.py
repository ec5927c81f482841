# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception tree of what runs on a node; private to this collection.

EdgeError               an operation ends here; the class of the error decides what the runner does
    LinkError           time is over before anything is decided
    RegistryError       a registry is unreachable or ill
    DiskError           no space left on the node
    AuthError           a credential is refused
    ConfigError         the release cannot be applied as written
    ImageError          an image or a content does not exist or has another digest
    HealthError         it started and did not become healthy
    EngineError         the container engine failed
    ConflictError       another runner, or a person, holds the node or the deployment
    InternalError       a defect of this collection
"""

from __future__ import annotations

import errno
from collections.abc import Mapping

FULL = (errno.ENOSPC, errno.EDQUOT)
# Python tries to write in each place that it knows, and tells of a full disk as of a missing file.
NO_PLACE = "No usable temporary directory"


class EdgeError(Exception):
    """Why an operation ended, and what would help."""

    kind = "internal"
    # Whether the call is over with it; else the next call finishes the work, from the journal.
    ends = True

    def __init__(self, code: str, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.cure = cure

    def as_dict(self) -> dict[str, str]:
        """The shape that travels: class, code, message, cure."""
        return {
            "class": self.kind,
            "code": self.code,
            "message": self.message,
            "cure": self.cure,
        }


class LinkError(EdgeError):
    """Time was over, for the call or for waiting: what it came to is for the next call to tell."""

    kind = "link"
    ends = False


class RegistryError(EdgeError):
    """A registry is unreachable or ill."""

    kind = "registry"


class DiskError(EdgeError):
    """No space left on the node."""

    kind = "disk"


class AuthError(EdgeError):
    """A credential is refused."""

    kind = "auth"


class ConfigError(EdgeError):
    """The release cannot be applied as written."""

    kind = "config"


class ImageError(EdgeError):
    """An image or a content does not exist, or has another digest."""

    kind = "image"


class HealthError(EdgeError):
    """It started and did not become healthy."""

    kind = "health"


class EngineError(EdgeError):
    """The container engine failed."""

    kind = "engine"


class ConflictError(EdgeError):
    """Another runner, a newer call or a person stands in the way."""

    kind = "conflict"
    ends = False


class InternalError(EdgeError):
    """A defect of this collection."""


def sentence(error: Mapping[str, str], outcome: str = "") -> str:
    """Return an error as one sentence: what was found, what it led to, and what would help."""
    cure = f" ({error['cure']})" if error["cure"] else ""
    return f"{error['message']}{outcome}{cure}"


def translated(error: Exception) -> EdgeError:
    """Whatever went wrong as one of ours: the one door for what others raise."""
    if isinstance(error, EdgeError):
        return error
    if isinstance(error, OSError) and (error.errno in FULL or NO_PLACE in str(error)):
        return DiskError("disk-full", f"{error}", "make room on the node")
    if isinstance(error, OSError):
        cure = "look at the node; then report this as a defect"
        return InternalError("os", f"{error}", cure)
    words = f"{type(error).__name__}: {error} ({_where(error)})"
    return InternalError("defect", words, "report this as a defect, with these words")


def _where(error: Exception) -> str:
    """The file and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "nowhere"
    file = trace.tb_frame.f_code.co_filename.rpartition("/")[2]
    return f"{file}:{trace.tb_lineno}"
