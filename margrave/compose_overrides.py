"""Compose files of a component that Compose would read by itself, and that no node reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from margrave.policy.compose_paths import FILE

if TYPE_CHECKING:
    from collections.abc import Mapping


# The same names as in the collection's _compose_files.py: a test compares them.
OVERRIDE_FILES: Final = (
    "compose.override.yaml",
    "compose.override.yml",
    "docker-compose.override.yaml",
    "docker-compose.override.yml",
)
OTHER_NAMES: Final = ("compose.yml", "docker-compose.yaml", "docker-compose.yml")


def ignored(files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return a finding and its cure for each such file that compose.yaml does not name itself."""
    text = files.get(FILE, b"").decode("utf-8", "replace")
    return [
        (f"{name} is not applied: {FILE} alone is read", cure)
        for names, cure in (
            (OVERRIDE_FILES, f"merge it into {FILE}, list it there below include, or remove it"),
            (OTHER_NAMES, f"remove it, or make it {FILE}"),
        )
        for name in names
        if name in files and not re.search(rf"(?<![\w.-]){re.escape(name)}\b", text)
    ]
