# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception tree of what runs on a node; private to this collection.

EdgeError               an operation ends here; the class of the error decides what the runner does
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


class EdgeError(Exception):
    """Why an operation ended, and what would help."""

    kind = "internal"

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


class InternalError(EdgeError):
    """A defect of this collection."""
