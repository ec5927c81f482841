"""What a push asks for, read from the bytes that go to Git."""

from __future__ import annotations

import gzip

import pytest

from controller.access.identity import Identity, Role
from controller.git_endpoint.arrival import LOOKED_AT, Arrival, Move

NONE, OLD, NEW = "0" * 40, "1" * 40, "2" * 40
MAIN = Move(OLD, NEW, "refs/heads/main")


def line(text: str) -> bytes:
    """A line as Git frames it."""
    return f"{len(text) + 4:04x}{text}".encode()


FIRST = line(f"{OLD} {NEW} refs/heads/main\0 report-status side-band-64k agent=git/2.39\n")
SECOND = line(f"{NONE} {NEW} refs/tags/v1\n")


@pytest.mark.parametrize(
    ("sent", "moves"),
    [
        (FIRST + b"0000PACK\0\0\0\2 whatever", [MAIN]),
        (FIRST + SECOND + b"0000", [MAIN, Move(NONE, NEW, "refs/tags/v1")]),
        (line(f"shallow {OLD}") + FIRST + b"0000", [MAIN]),
        (b"0000", []),
        (b"", []),
        (b"PACK of something else", []),
        (gzip.compress(FIRST), []),
        (FIRST[:40], []),
    ],
    ids=["one", "two", "shallow", "only tried", "nothing", "no Git", "packed", "cut off"],
)
def test_references_stand_before_the_pack(sent: bytes, moves: list[Move]) -> None:
    """However it arrives, in pieces as well; what is no push asks for nothing."""
    for size in (1, 7, 65536):
        came = Arrival(Identity("ada", Role.OPERATOR), None, "")
        for begin in range(0, len(sent), size):
            came.watch(sent[begin : begin + size])
        assert came.moves == moves


def test_a_large_pack_is_not_kept() -> None:
    """Only the beginning is: a pack may be as large as it is."""
    came = Arrival(Identity("ada", Role.OPERATOR), None, "")
    came.watch(FIRST + b"0000PACK")
    for _ in range(100):
        came.watch(b"x" * LOOKED_AT)
    assert came.moves == [MAIN]
    assert len(came._begin) <= 2 * LOOKED_AT
