"""What breaks parsers, and how long and how large the readers get over it.

Bars: no exception but ours; no input up to the size limit takes more than 100 ms of processor time
or 50 MB. Documents are mutated for some seconds (two minutes unless told otherwise), then each
shape of the largest inputs is read; `python -m bench.hostile [SECONDS]`.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.documents import document
from bench.figures import keep
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
from margrave.policy import compose_findings
from margrave.yaml_text import SIZE_LIMIT

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
    "compose": lambda data: compose_findings(
        {"compose.yaml": data.decode("utf-8", "replace")}, {}, {}
    ),
}
APPS = Path(__file__).parents[1] / "examples/apps"
SEEDS = [
    render(document(1)),
    b'{"manifestVersion": 3, "bundle": null, "deployments": []}',
    b'{"properties": {"id": "gw/a", "vendor": "v", "modelNumber": "m", "serialNumber": "s"}}',
    b'{"keys": [{"kty": "EC", "use": "x509-svid", "x5c": ["AA=="]}], "spiffe_sequence": 1}',
    b"services: {web: {image: x/y:1, volumes: ['./a:/a'], ports: ['80:${P:-80}']}}\n",
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


def mutated(chance: random.Random) -> bytes:
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


def read_or_refuse(read: Callable[[bytes], object], data: bytes) -> None:
    """Read it; our own refusals are answers, anything else is a defect."""
    try:
        read(data)
    except MargraveError as error:
        assert str(error)


def hunt(seconds: float, seed: int) -> dict[str, float]:
    """Mutate and read for a while; the slowest reading of each reader, in processor time."""
    chance, slowest = random.Random(seed), dict.fromkeys(READERS, 0.0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(chance)
        for name, read in READERS.items():
            slowest[name] = max(slowest[name], _timed(read, data))
    return slowest


def largest() -> dict[str, float]:
    """The slowest reading of each shape; the best of three turns, so that we measure the reader."""
    documents = [READERS[name] for name in ("deployment", "description", "manifest", "compose")]
    return {
        shape: max(min(_timed(read, data[:SIZE_LIMIT]) for _ in range(3)) for read in documents)
        for shape, data in LARGE.items()
    }


def _timed(read: Callable[[bytes], object], data: bytes) -> float:
    begin = time.process_time()
    read_or_refuse(read, data)
    return time.process_time() - begin


def main() -> None:
    """Hunt, measure, print and keep."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    seed = random.randrange(2**32)
    hunt(2, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest = hunt(seconds, seed)
    shapes = largest()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    keep(
        "hostile",
        {
            "seed": seed,
            "mutated": {name: round(value, 4) for name, value in slowest.items()},
            "largest": {name: round(value, 4) for name, value in shapes.items()},
            "bar": 0.1,
            "grown_mb": round(grown / 1024, 1),
            "bar_mb": 50,
        },
    )


if __name__ == "__main__":
    main()
