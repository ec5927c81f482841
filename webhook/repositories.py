"""Whether the repository that a forge names is one that this process follows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from webhook.push import BRANCHES, TAGS

_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]+):(?!//)(?P<path>.+)")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Followed:
    """A repository and what of it counts here: a whole ref, or the name of a branch or tag; None
    is its own branch, whichever it is."""

    url: str
    ref: str | None

    def hears(self, ref: str) -> bool:
        """Whether a move of the ref concerns it."""
        if self.ref is None:
            return ref.startswith(BRANCHES)
        if self.ref.startswith("refs/"):
            return ref == self.ref
        return ref in (BRANCHES + self.ref, TAGS + self.ref)


def names_one_of(given: Iterable[str], ours: Iterable[str]) -> str | None:
    """The first given URL that means one of ours, or None.

    Scheme, user, port and a final `.git` don't count: a forge tells its HTTPS and SSH addresses,
    and we follow it by one of them. A remote without a host (a path) is known by its last name.
    """
    wanted = [_parts(one) for one in ours]
    return next((url for url in given if any(_same(_parts(url), one) for one in wanted)), None)


def _same(given: tuple[str, str], ours: tuple[str, str]) -> bool:
    if ours[0] == "":
        return given[1].rpartition("/")[2] == ours[1].rpartition("/")[2]
    return given == ours


def _parts(url: str) -> tuple[str, str]:
    """(host, path) of a URL, an scp-like address, or a path (whose host is empty)."""
    if "://" in url:
        host, path = _of_url(url)
    elif match := _SCP.fullmatch(url):
        host, path = match["host"].lower(), match["path"]
    else:
        host, path = "", url
    path = unquote(path).strip("/").removesuffix(".git").rstrip("/")
    return ("localhost" if host in _LOOPBACK else host, path)


def _of_url(url: str) -> tuple[str, str]:
    try:
        split = urlsplit(url)
    except ValueError:  # a payload may hold anything; what is no URL is nobody's
        return "", ""
    return split.hostname or "", split.path
