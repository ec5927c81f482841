"""What a push asks for, read from the bytes that go to Git."""

from __future__ import annotations

import gzip

import pytest

from controller.access.identity import Identity, Role
from controller.git_endpoint.arrival import MOST_MOVES, OWN_ENTRIES, Arrival, Commands, Move

NONE, OLD, NEW = "0" * 40, "1" * 40, "2" * 40
MAIN = Move(OLD, NEW, "refs/heads/main")


def line(text: str) -> bytes:
    """A line as Git frames it."""
    return f"{len(text) + 4:04x}{text}".encode()


FIRST = line(f"{OLD} {NEW} refs/heads/main\0 report-status side-band-64k agent=git/2.39\n")
SECOND = line(f"{NONE} {NEW} refs/tags/v1\n")


CERTIFICATE = b"".join(
    line(text)
    for text in (
        "push-cert\0 report-status\n",
        "certificate version 0.1\n",
        "pusher Grace <grace@example.com> 1 +0000\n",
        "\n",
        f"{OLD} {NEW} refs/heads/main\n",
        "-----BEGIN PGP SIGNATURE-----\n",
        "push-cert-end\n",
    )
)


def arrived(sent: bytes, size: int = 65536, encoding: str = "") -> Arrival:
    """A push whose body came in pieces of that size."""
    came = Arrival(Identity("ada", Role.OPERATOR), None, "", commands=Commands(encoding))
    for begin in range(0, len(sent), size):
        came.watch(sent[begin : begin + size])
    return came


@pytest.mark.parametrize(
    ("sent", "moves"),
    [
        (FIRST + b"0000PACK\0\0\0\2 whatever", [MAIN]),
        (FIRST + SECOND + b"0000", [MAIN, Move(NONE, NEW, "refs/tags/v1")]),
        (line(f"shallow {OLD}") + FIRST + b"0000", [MAIN]),
        (line(f"{'A' * 40} {NEW} refs/heads/main\n") + b"0000",
         [Move("a" * 40, NEW, "refs/heads/main")]),
        (CERTIFICATE + b"0000", [MAIN]),
        (b"0000", []),
        (b"", []),
        (b"PACK of something else", []),
        (b"0003" + FIRST, []),
        (FIRST[:40], []),
    ],
    ids=["one", "two", "shallow", "capitals", "certificate", "only tried", "nothing", "no Git",
         "no size", "cut off"],
)  # fmt: skip
def test_references_stand_before_the_pack(sent: bytes, moves: list[Move]) -> None:
    """However it arrives, in pieces or packed; what is no push asks for nothing."""
    for size in (1, 7, 65536):
        assert arrived(sent, size).commands.moves == moves
        assert arrived(gzip.compress(sent), size, "gzip").commands.moves == moves


def test_what_git_does_not_unpack_is_not_unpacked_here() -> None:
    """A packed body without its header, or with another encoding's, is no push to Git either."""
    packed = gzip.compress(FIRST + b"0000")
    for encoding in ("", "GZIP", "deflate"):
        assert arrived(packed, encoding=encoding).commands.moves == []
    assert arrived(FIRST + b"0000", encoding="gzip").commands.moves == []


def test_a_large_pack_is_not_kept() -> None:
    """Only the commands are kept, however large a pack is or unpacks to be."""
    bomb = gzip.compress(FIRST + b"0000PACK" + b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    for came in (arrived(bomb, encoding="gzip"), arrived(FIRST + b"0000PACK" + b"x" * 5_000_000)):
        assert came.commands.moves == [MAIN]
        assert came.commands._rest == b""


def test_each_reference_is_recorded() -> None:
    """Main first, the first ones with an entry of their own, the others together by outcome."""
    references = [f"refs/tags/v{number}" for number in range(120)]
    lines = [line(f"{NONE} {NEW} {one}\n") for one in references]
    came = arrived(b"".join([*lines, FIRST, b"0000PACK"]), size=1000)
    deeds = came.deeds(lambda wanted: set(wanted) - {"refs/tags/v7", "refs/tags/v110"})
    assert len(deeds) == OWN_ENTRIES + 2
    assert deeds[0] == ("done", "refs/heads/main", {"old": OLD, "new": NEW})
    assert deeds[8] == ("refused", "refs/tags/v7", {"old": NONE, "new": NEW})
    assert [(outcome, target) for outcome, target, _ in deeds[-2:]] == [
        ("done", "70 more references"),
        ("refused", "1 more references"),
    ]
    assert deeds[-1][2] == {"references": {"refs/tags/v110": [NONE, NEW]}}


def test_a_request_with_too_many_references_is_cut_off() -> None:
    """Git gets no end of the commands, so it acts on none of them."""
    came = Arrival(Identity("ada", Role.OPERATOR), None, "")
    sent = [line(f"{NONE} {NEW} refs/tags/v{number}\n") for number in range(MOST_MOVES + 1)]
    assert all(came.watch(chunk) for chunk in sent[:-1])
    assert not came.watch(sent[-1])
    ((outcome, target, _),) = came.deeds(lambda _: set())
    assert (outcome, target) == ("refused", "refs/heads/main")


@pytest.mark.parametrize(
    ("sent", "entries"), [(b"0000", 0), (b"", 0), (b"PACK of something else", 1), (FIRST, 1)]
)
def test_a_request_that_cannot_be_read_is_recorded(sent: bytes, entries: int) -> None:
    """As refused; who only asked whether a push is allowed leaves no entry."""
    deeds = arrived(sent).deeds(set)
    assert [outcome for outcome, _, _ in deeds] == ["refused"] * entries
