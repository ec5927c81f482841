"""The lane of a request, by its method and path."""

from __future__ import annotations

import re
from typing import Final

from controller.edge.lanes import LaneSize

HEALTH: Final = "health"
READINESS: Final = "readiness"
STREAMS: Final = "streams"
GIT: Final = "git"
UPLOADS: Final = "uploads"  # bodies of unknown length: a thread waits for them
RUNNERS: Final = "runners"
SIGN_INS: Final = "sign-ins"
READS: Final = "reads"
CHANGES: Final = "changes"

THREADS: Final = 16  # for reads, changes and runners each; http.threads overrides it
GIT_THREADS: Final = 16
UPLOAD_THREADS: Final = 4
# Hashing a password takes 64 MiB and a processor: two at a time keep both for others.
SIGN_IN_THREADS: Final = 2
# Threads that answer streams which find no place, and notice clients that have hung up.
SPARE_STREAMS: Final = 4

_ROUTES: Final = (
    (HEALTH, re.compile(r"[A-Z]+ /healthz")),
    (READINESS, re.compile(r"[A-Z]+ /readyz")),
    (GIT, re.compile(r"[A-Z]+ /git/.*")),
    (STREAMS, re.compile(r"GET (/live|/api/v1/events|/api/v1/sites/[^/]+/stream)/?")),
    (STREAMS, re.compile(r"GET /api/v1/operations/[^/]+/events/?")),
    (RUNNERS, re.compile(r"POST /api/v1/sites/[^/]+/(reports|heartbeat)/?")),
    (SIGN_INS, re.compile(r"POST (/api/v1/login|/sign-in)/?|GET /sign-in/oidc.*")),
    (READS, re.compile(r"(GET|HEAD|OPTIONS) .*")),
)


def lane_of(method: str, path: str) -> str:
    """Return the name of the lane that a request belongs to."""
    wanted = f"{method} {path}"
    for lane, pattern in _ROUTES:
        if pattern.fullmatch(wanted):
            return lane
    return CHANGES


def sizes(threads: int, streams: int) -> dict[str, LaneSize]:
    """Return the capacity of each lane.

    No address and no credential gets more than three quarters of the threads of a shared lane.
    """
    common = LaneSize(threads, _most(threads))
    return {
        HEALTH: LaneSize(1, 1),
        READINESS: LaneSize(2, 2),
        STREAMS: LaneSize(streams + SPARE_STREAMS, streams + SPARE_STREAMS),
        GIT: LaneSize(GIT_THREADS, _most(GIT_THREADS)),
        UPLOADS: LaneSize(UPLOAD_THREADS, _most(UPLOAD_THREADS)),
        RUNNERS: common,
        SIGN_INS: LaneSize(SIGN_IN_THREADS, SIGN_IN_THREADS),
        READS: common,
        CHANGES: common,
    }


def _most(threads: int) -> int:
    return max(1, threads * 3 // 4)
