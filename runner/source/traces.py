"""By which id what Git wants can be followed back to what asked for it.

The controller writes a request's X-Request-Id into the commit that it makes of it; a commit that a
person made is its own id. Only the clone is asked: an id that it does not reach back to is missing,
and nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from margrave import commits
from runner.source.clone import BROKEN, Clone
from runner.source.desired import SITE, Desired

# So many of a site's changes are read when a runner starts: who follows an id wants the newer ones.
_MOST: Final = 5_000
_FIELDS: Final = ("%H", commits.trailer(commits.TRACE), commits.trailer(commits.REQUEST))


def read(clone: Clone, site: str, head: str, last: Desired | None = None) -> Mapping[str, str]:
    """The id of the newest change of each document up to the head, also of those that are gone."""
    newer = _changes(clone, site, f"{last.commit}..{head}") if last else None
    if last is not None and newer is not None:
        return {**last.traces, **newer}
    return _changes(clone, site, head) or {}


def _changes(clone: Clone, site: str, span: str) -> Mapping[str, str] | None:
    """None when the clone cannot tell."""
    # No choices that a merge made: the commits that it brings tell what they changed.
    options = ("-z", "--topo-order", "--no-renames", "--name-only", f"--max-count={_MOST}")
    paths = (f"deployments/{site}", f"sites/{site}.yaml")
    try:
        text = clone.log(*options, commits.form(*_FIELDS), span, "--", *paths)
        begins = clone.beginnings()
    except BROKEN:
        return None
    found: dict[str, str] = {}
    for (commit, trace, request), changed in commits.read(text, len(_FIELDS)):
        if commit in begins:
            continue  # where a part of a history begins, all that stands there looks new
        told = commits.trace_of(commit, trace, request)
        for path in changed:
            found.setdefault(_document(path), told)
    return found


def _document(path: str) -> str:
    return PurePosixPath(path).stem if path.startswith("deployments/") else SITE
