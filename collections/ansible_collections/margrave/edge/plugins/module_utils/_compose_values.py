# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Generated from margrave/policy/compose_values.py by `python docs/generate.py`: change it there.

"""Values of a Compose model: paths, images, capabilities, and their relation to a policy. Pure."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections import namedtuple

TYPE_CHECKING = False  # `typing` takes longer to import on a node than all that is here
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# path    place in the model, like `services.web.logging.options.path`
# reason  why it is refused
# opens   the key of the site's policy that would allow it, or None where nothing does
Finding = namedtuple("Finding", ("path", "reason", "opens"))

LONGEST = 4096  # characters of a path or of another value that is judged: what a kernel takes
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def text(value: Any) -> str:
    """Return a plain value as a Compose file writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_off(value: Any) -> bool:
    """Return whether Compose reads a value as false."""
    return value is None or text(value).lower() in ("false", "no", "off", "n", "")


def registry_of(image: str) -> str:
    """Return the registry that an image name means."""
    first, slash, _rest = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first if named else "docker.io"


def capability(name: str) -> str:
    """Return a capability's name without CAP_."""
    upper = str(name).upper()
    return upper[len("CAP_") :] if upper.startswith("CAP_") else upper


def is_plain_path(path: str) -> bool:
    """Return whether a path is absolute and normalised: no `..`, `.`, `//`, control character."""
    if len(path) > LONGEST:
        return False
    normal = posixpath.normpath(path)
    return (
        path.startswith("/")
        and not path.startswith("//")
        and path in (normal, normal + "/")
        and not CONTROL.search(path)
    )


def is_below_any(path: str, roots: Iterable[str]) -> bool:
    """Return whether a path is one of these folders or lies below one."""
    path = posixpath.normpath(path)
    return any(_below(path, posixpath.normpath(root)) for root in roots if root.startswith("/"))


def _below(path: str, root: str) -> bool:
    return root == "/" or path == root or path.startswith(root + "/")


class Policy:
    """The site's policy as answers."""

    BY_WORD = ("privileged", "host_namespaces")
    BY_ALL = {"host_paths": "/", "devices": "*"}

    def __init__(self, keys: Mapping[str, Any]) -> None:
        self._keys = keys

    def entries(self, key: str) -> list[str]:
        """Return the entries of a key that is a list."""
        return list(self._keys.get(key) or [])

    def opens(self, key: str | None) -> bool:
        """Return whether a key allows everything that it can allow."""
        if key in self.BY_WORD:
            return bool(self._keys.get(key) == "allow")
        return key in self.BY_ALL and self.BY_ALL[key] in self.entries(key)

    def names(self, kind: str, name: str) -> bool:
        """Return whether host_paths names a volume or network of others."""
        return f"{kind}:{name}" in self.entries("host_paths")

    def matches(self, key: str, value: str) -> bool:
        """Return whether a pattern of a key matches."""
        return any(fnmatch.fnmatchcase(value, pattern) for pattern in self.entries(key))

    def has_path(self, path: str, roots: Iterable[str] = ()) -> bool:
        """Return whether a path is plain and lies below host_paths or one of these folders."""
        return is_plain_path(path) and is_below_any(path, [*self.entries("host_paths"), *roots])
