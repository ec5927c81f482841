"""Files that a component's compose.yaml makes Compose read, checked before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrave.errors import DocumentError
from margrave.policy import compose_paths
from margrave.policy.compose_paths import CANNOT_BE_READ, Stray, Unreadable
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CANNOT_BE_READ", "Stray", "strays"]


def strays(files: Mapping[str, bytes]) -> list[Stray]:
    """Return every path that leads out of the component, or to nothing in it.

    `files` are the component's files by path. A Compose file that cannot be read is a finding.
    """

    def read(name: str) -> Any:
        try:
            return parse(files[name], name).value
        except DocumentError as error:
            first = error.findings[0]
            raise Unreadable(f"line {first.line}: {first.message}") from error

    return compose_paths.strays(files, read)
