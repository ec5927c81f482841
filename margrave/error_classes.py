"""Classes of error, and what each of them means for retries: one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class ErrorClass(StrEnum):
    """What kind of trouble ended an operation."""

    LINK = "link"
    REGISTRY = "registry"
    DISK = "disk"
    AUTH = "auth"
    CONFIG = "config"
    IMAGE = "image"
    HEALTH = "health"
    ENGINE = "engine"
    CONFLICT = "conflict"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class ClassPolicy:
    """Default retries (None is without end) and whether going back is ever the answer."""

    meaning: str
    retries: int | None
    rolls_back: bool

    @property
    def site_trouble(self) -> bool:
        """The site's trouble, not the release's: retried without end."""
        return self.retries is None


POLICY: Final[Mapping[ErrorClass, ClassPolicy]] = {
    ErrorClass.LINK: ClassPolicy("the node or the network did not answer", None, False),
    ErrorClass.REGISTRY: ClassPolicy("a registry is unreachable or ill", None, False),
    ErrorClass.DISK: ClassPolicy("no space left on the node", None, False),
    ErrorClass.AUTH: ClassPolicy("a credential is refused", None, False),
    ErrorClass.CONFIG: ClassPolicy("the release cannot be applied as written", 0, True),
    ErrorClass.IMAGE: ClassPolicy("an image does not exist or has another digest", 0, True),
    ErrorClass.HEALTH: ClassPolicy("it started and did not become healthy", 1, True),
    ErrorClass.ENGINE: ClassPolicy("the container engine failed", 1, True),
    ErrorClass.CONFLICT: ClassPolicy("another runner or a person holds the node", 0, False),
    ErrorClass.INTERNAL: ClassPolicy("a defect of this product", 0, False),
}


def retries_left(cls: ErrorClass, attempt: int, overrides: Mapping[str, int]) -> bool:
    """Whether a further attempt follows the given one (the first is 1)."""
    retries = overrides.get(cls.value, POLICY[cls].retries)
    return retries is None or attempt <= retries
