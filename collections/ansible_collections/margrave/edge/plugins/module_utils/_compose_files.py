# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files and variables of a component that Compose does not use, and those that it misses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

COMPOSE_FILE = "compose.yaml"
OVERRIDE_FILES = (
    "compose.override.yaml",
    "compose.override.yml",
    "docker-compose.override.yaml",
    "docker-compose.override.yml",
)
OTHER_NAMES = ("compose.yml", "docker-compose.yaml", "docker-compose.yml")
UNDEFINED = re.compile(r'The \\?"([^"\\]+)\\?" variable is not set')
# Larger files hold data: nobody writes a variable's name there.
LARGEST = 1024 * 1024


def refuse_overrides(folder: str) -> None:
    """Raise ConfigError when the component has an override file that nothing includes.

    Compose by itself would merge it, so an author who tried the component by hand got more than
    compose.yaml says.
    """
    for name in _unmentioned(folder, OVERRIDE_FILES):
        raise ConfigError(
            "override-file",
            f"components.{os.path.basename(folder)}: {name} is not applied: {COMPOSE_FILE} alone is"
            " read",
            f"merge it into {COMPOSE_FILE}, list it there below include, or remove it",
        )


def other_compose_files(folder: str) -> list[str]:
    """Return a warning for each file that has another of Compose's default names."""
    return [
        f"components.{os.path.basename(folder)}: {name} is not read: {COMPOSE_FILE} is"
        for name in _unmentioned(folder, OTHER_NAMES)
    ]


def undefined_variables(folder: str, messages: str) -> list[str]:
    """Return a warning that lists the variables that Compose reports as not set."""
    names = ", ".join(sorted(set(UNDEFINED.findall(messages))))
    warning = (
        f"components.{os.path.basename(folder)}: {COMPOSE_FILE} uses variables that are not set,"
        f" and gets empty text for them: {names} (set them in variables, or write a default:"
        " ${NAME:-default})"
    )
    return [warning] if names else []


def unused_variables(folder: str, names: Iterable[str]) -> list[str]:
    """Return a warning that lists the variables that no file of the component mentions."""
    unseen = set(names)
    for text in _read_by_compose(folder):
        unseen -= set(re.findall(r"\w+", text))
        if not unseen:
            return []
    warning = (
        f"components.{os.path.basename(folder)}: variables that {COMPOSE_FILE} does not use:"
        f" {', '.join(sorted(unseen))} (look for a typing error, or leave them out)"
    )
    return [warning]


def _unmentioned(folder: str, names: Iterable[str]) -> list[str]:
    """Return those of the files that are in the folder and that compose.yaml does not name."""
    present = [name for name in names if os.path.exists(os.path.join(folder, name))]
    text = _text(os.path.join(folder, COMPOSE_FILE)) if present else ""
    return [name for name in present if not re.search(rf"(?<![\w.-]){re.escape(name)}\b", text)]


def _read_by_compose(folder: str) -> Iterator[str]:
    """Yield compose.yaml, then .env, then all files that one of the yielded texts names."""
    texts = [_text(os.path.join(folder, name)) for name in (COMPOSE_FILE, ".env")]
    yield from texts
    left = {
        path
        for place, _folders, names in os.walk(folder)
        for path in (os.path.join(place, name) for name in names)
        if os.path.getsize(path) <= LARGEST
    }
    while texts:
        known = "\n".join(texts)
        named = {path for path in left if os.path.basename(path) in known}
        left -= named
        texts = [_text(path) for path in sorted(named)]
        yield from texts


def _text(path: str) -> str:
    """Return a file's text, empty where there is none; Compose itself reports what it misses."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""
