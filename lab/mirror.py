"""Where this machine gets its Debian packages from, read from its own apt settings."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lab.commands import attempt
from lab.errors import NotPossibleHere

if TYPE_CHECKING:
    from collections.abc import Iterable

APT = Path("/etc/apt")
_ONE_LINE = re.compile(r"^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s", re.MULTILINE)
_PARAGRAPH = re.compile(r"^URIs:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_OPTION = re.compile(r'^(Acquire::https?::\S+) "(.+)";$', re.MULTILINE)


def find() -> str:
    """The mirror, or NotPossibleHere with the way to name one."""
    named = os.environ.get("MARGRAVE_LAB_MIRROR")
    if named:
        return named
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]
    texts = [one.read_text(errors="replace") for one in files if one.is_file()]
    for mirror in candidates(texts):
        return mirror
    raise NotPossibleHere(
        f"{APT}: no Debian mirror in the package sources",
        "name one: MARGRAVE_LAB_MIRROR=URL margrave lab up",
    )


def candidates(texts: Iterable[str]) -> list[str]:
    """Mirrors of Debian proper in sources.list texts of both formats, each once, in order."""
    found: dict[str, None] = {}
    for text in texts:
        uris = _ONE_LINE.findall(text)
        for line in _PARAGRAPH.findall(text):
            uris.extend(line.split())
        # debian-security and foreign repositories hold no base system.
        found.update((uri, None) for uri in uris if uri.rstrip("/").endswith("/debian"))
    return list(found)


def apt_options() -> list[str]:
    """Proxies and certificates this machine's apt needs for getting out, as apt options."""
    return [f'{key} "{value}"' for key, value in _OPTION.findall(_dump())]


def _dump() -> str:
    return attempt(["apt-config", "dump"]).stdout if APT.exists() else ""
