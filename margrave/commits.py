"""What commits say of themselves: our trailers, and how `git log` is read for them. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from margrave.names import is_trace, is_uuid

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUEST: Final = "Margrave-Request"
ACTOR: Final = "Margrave-Actor"
APP: Final = "Margrave-App"
REVISION: Final = "Margrave-Revision"
TRACE: Final = "Margrave-Trace"  # the X-Request-Id that the commit was asked for with

SHORT: Final = 12  # digits of a commit, as everywhere that people are told of one


def form(*fields: str) -> str:
    """The option that has `git log -z --name-only` say these of each commit, for `read`.

    One field each behind a null character, which no commit holds. An empty one begins a commit, as
    no path is empty; the paths that it changed come behind its fields.
    """
    return "--format=%x00" + "%x00".join(fields)


def trailer(key: str) -> str:
    """The field with a trailer's values, a line each."""
    return f"%(trailers:key={key},valueonly,unfold)"


def read(log: str, width: int) -> Iterator[tuple[list[str], list[str]]]:
    """Of each commit its fields and the paths that it changed, in the order of the log."""
    fields: list[str] = []
    paths: list[str] = []
    parts = iter(log.split("\0"))
    for part in parts:
        if part:
            paths.append(part.removeprefix("\n"))  # Git's own, before the first path
            continue
        if len(fields) == width:
            yield fields, paths
        fields, paths = list(islice(parts, width)), []
    if len(fields) == width:
        yield fields, paths


def first(values: str) -> str:
    """Of trailers with the same name the first one counts."""
    return values.partition("\n")[0].strip()


def trace_of(commit: str, traces: str, requests: str) -> str:
    """The id that leads from a commit to what asked for it, by the values of its two trailers.

    Whoever pushes may write a trailer: what is no id counts for nothing. A commit without any is
    what asked.
    """
    trace, request = first(traces), first(requests)
    if is_trace(trace):
        return trace
    return request if is_uuid(request) else commit[:SHORT]
