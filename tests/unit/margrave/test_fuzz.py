"""Nothing that can be sent to a reader makes it fail itself, or takes long, or takes much."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margrave import bundle, digest
from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment, render
from margrave.documents.description import read_description
from margrave.documents.manifest import read_manifest
from margrave.documents.problem import read_problem
from margrave.documents.site import read_site
from margrave.documents.status import read_status
from margrave.documents.trust_bundle import read_trust_bundle
from margrave.errors import MargraveError
from margrave.yaml_text import SIZE_LIMIT
from tests.unit.margrave.making import raw_deployment

READERS: dict[str, Callable[[bytes], object]] = {
    "deployment": read_deployment,
    "site": read_site,
    "description": read_description,
    "manifest": read_manifest,
    "capabilities": read_capabilities,
    "status": read_status,
    "problem": read_problem,
    "trust-bundle": read_trust_bundle,
    "bundle": bundle.read,
    "archive": digest.unpack,
}
APPS = Path(__file__).parents[3] / "examples/apps"
SEEDS = [
    render(raw_deployment(windows=[{"cron": "0 2 * * *", "duration": "1h"}], drift="heal")),
    b'{"manifestVersion": 3, "bundle": null, "deployments": []}',
    b'{"properties": {"id": "gw/a", "vendor": "v", "modelNumber": "m", "serialNumber": "s"}}',
    b'{"keys": [{"kty": "EC", "use": "x509-svid", "x5c": ["AA=="]}], "spiffe_sequence": 1}',
    b"labels: {zone: shop}\nwindows: [{cron: '0 2 * * 1-5', duration: 2h}]\n",
    digest.archive({"compose.yaml": digest.File(b"services: {}\n")}),
    *(path.read_bytes() for path in sorted(APPS.rglob("margo.yaml"))),
]
# What breaks parsers: each is put in, taken for, or repeated over parts of a good document.
PIECES = [
    b"[", b"{", b"&a ", b"*a", b"<<: ", b"? ", b"- ", b": ", b"\n", b"  ", b"\t", b"\0", b"\xff",
    b"'", b'"', b"|\n", b">\n", b"!!python/object:os.system ", b"!x ", b"---\n", b"...\n",
    b"%YAML 9.9\n", b"9" * 400, b"1e999", b".nan", b"0x", b"0o7", b"1:1:1", b"yes", b"~",
    b"\xe2\x80\xa8", b"\xef\xbb\xbf",
    b"[" * 300, b"{a: " * 300, b"- " * 300, b"x" * 5000, b"x-a-extensions", b"../" * 20, b"\\u0000",
]  # fmt: skip


def _told(read: Callable[[bytes], object], data: bytes) -> None:
    """Read it; our own refusals are answers, anything else is a defect."""
    try:
        read(data)
    except MargraveError as error:
        assert str(error)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    """Whatever comes, the answer is a document or a refusal in words."""
    _told(READERS[name], data)


def _mutated(chance: random.Random) -> bytes:
    """A good document, made wrong in a few places."""
    data = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 6)):
        at, piece = chance.randrange(len(data) + 1), chance.choice(PIECES)
        match chance.randrange(4):
            case 0:
                data[at:at] = piece
            case 1:
                data[at : at + chance.randrange(30)] = piece
            case 2:
                del data[at : at + chance.randrange(60)]
            case _:
                data[at:at] = bytes(data[at : at + 200]) * chance.randint(1, 40)
    return bytes(data[: SIZE_LIMIT + 10])


def _hunt(seconds: float, seed: int) -> dict[str, float]:
    """Mutate and read for a while; the slowest reading of each reader, in processor time."""
    chance, slowest = random.Random(seed), dict.fromkeys(READERS, 0.0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = _mutated(chance)
        for name, read in READERS.items():
            begin = time.process_time()
            _told(read, data)
            slowest[name] = max(slowest[name], time.process_time() - begin)
    return slowest


def test_broken_documents_are_refused_quickly() -> None:
    """A few seconds of mutated documents: no exception but ours, none over a tenth of a second."""
    slowest = _hunt(3, seed=7)

    assert max(slowest.values()) < 0.1, slowest


@pytest.mark.full
def test_a_long_hunt_finds_nothing_slow_or_large() -> None:
    """Two minutes of it, and the memory of the process grows by no more than 50 MB."""
    _hunt(2, seed=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest = _hunt(120, seed=random.randrange(2**32))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert max(slowest.values()) < 0.1, slowest
    assert grown < 50 * 1024, f"{grown} KiB"


LARGE = {
    "mapping": b"\n".join(b"k%d: %d" % (n, n) for n in range(40_000)),
    "list": b"[" + b"1," * (SIZE_LIMIT // 2 - 4) + b"1]",
    "brackets": b"[" * SIZE_LIMIT,
    "braces": b"{a: " * (SIZE_LIMIT // 4),
    "dashes": b"- " * (SIZE_LIMIT // 2),
    "anchors": b"\n".join(b"k%d: &a%d x" % (n, n) for n in range(30_000)),
    "bomb": b"a0: &a0 [x]\n"
    + b"\n".join(b"a%d: &a%d [*a%d, *a%d, *a%d]" % (n, n, *[n - 1] * 3) for n in range(1, 9000)),
    "twice": b"a: 1\n" * (SIZE_LIMIT // 5),
    "unknown": b"id: 1\n" + b"\n".join(b"x%d: 1" % n for n in range(4_000)),
    "tags": b"\n".join(b"k%d: !x 1" % n for n in range(40_000)),
    "escapes": b'a: "' + b"\\x41" * (SIZE_LIMIT // 4 - 4) + b'"',
    "folded": b"a: >\n" + b"  x\n" * (SIZE_LIMIT // 4 - 4),
    "digits": b"a: " + b"9" * (SIZE_LIMIT - 4),
    "dotted": b"a: " + b"1." * (SIZE_LIMIT // 2 - 4),
    "dates": b"- 2001-12-15T02:59:43.1Z\n" * (SIZE_LIMIT // 25),
    "comments": b"# c\n" * (SIZE_LIMIT // 4 - 2) + b"a: 1",
}  # fmt: skip


@pytest.mark.parametrize("shape", LARGE)
def test_the_largest_inputs_are_answered_within_a_tenth_of_a_second(shape: str) -> None:
    """Up to the size limit no shape takes long; the best of three turns is judged."""
    data = LARGE[shape][:SIZE_LIMIT]
    for name in ("deployment", "description", "manifest"):
        turns = []
        for _ in range(3):
            begin = time.process_time()
            _told(READERS[name], data)
            turns.append(time.process_time() - begin)

        assert min(turns) < 0.1, (name, turns)
