"""Margo's bundle of deployment documents: a gzip tar, written reproducibly, read with suspicion.

Of an archive from elsewhere nothing is believed: it may hold only regular files in its root, of
bounded number, size and compression; each is matched by the id inside it, whatever its name.
"""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from margrave import digest
from margrave.documents.deployment import read_deployment
from margrave.errors import DocumentError, UnsafeArchive
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from margrave.documents.deployment import Deployment
    from margrave.documents.manifest import Manifest

# Ten thousand documents of some KiB, far above what one client has.
COUNT_LIMIT: Final = 10_000
SIZE_LIMIT: Final = 64 * 1024 * 1024
# A thousand documents of one application pack to a 130th; only what is made to burst packs to much
# less. Small archives are mostly padding, and may.
RATIO_LIMIT: Final = 400
_RATIO_FROM: Final = 1024 * 1024

# Deflate, no flags, no time, best compression, no system: nothing of the machine that wrote it.
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
_CURE: Final = "ask its publisher for a bundle as the standard describes it"


@dataclass(frozen=True, slots=True)
class Packed:
    """A document of a bundle: what it says, and its exact bytes."""

    deployment: Deployment
    data: bytes


def write(documents: Mapping[str, bytes]) -> bytes:
    """The bundle of these documents by deployment id; the same documents are the same bytes.

    Another build of zlib may pack them differently, so whoever serves a bundle keeps its bytes.
    """
    files = {f"{identity}.yaml": digest.File(data) for identity, data in documents.items()}
    packed = digest.archive(files)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
    body = deflate.compress(packed) + deflate.flush()
    return _GZIP_HEAD + body + struct.pack("<II", zlib.crc32(packed), len(packed) % 2**32)


def read(data: bytes, limit: int = SIZE_LIMIT) -> dict[str, Packed]:
    """The documents by deployment id in small letters.

    UnsafeArchive when the archive is not to be trusted, DocumentError when a document is wrong.
    """
    found: dict[str, Packed] = {}
    findings: list[Finding] = []
    for name, body in _files(_inflated(data, limit)):
        try:
            read_one = read_deployment(body, name)
        except DocumentError as error:
            findings += error.findings
            continue
        identity = read_one.id.lower()
        if identity in found:
            findings.append(Finding("/id", f"{identity} is in the bundle twice", _CURE, file=name))
        found[identity] = Packed(read_one, body)
    if findings:
        raise DocumentError(findings)
    return found


def read_for(manifest: Manifest, data: bytes) -> dict[str, Packed]:
    """The documents of a manifest from its bundle: exactly those, each with the digest it names."""
    if manifest.bundle is None:
        raise UnsafeArchive("the manifest has no bundle", "fetch nothing: there are no deployments")
    if digest.of_bytes(data) != manifest.bundle.digest:
        raise UnsafeArchive("the bundle's digest is not the manifest's", "fetch it again")
    found = read(data)
    wanted = manifest.deployments
    wrong = [
        Finding(f"/{identity}", "is in the bundle, but not in the manifest", _CURE, "unknown")
        for identity in sorted(set(found) - set(wanted))
    ]
    for identity in sorted(wanted):
        if identity not in found:
            wrong.append(Finding(f"/{identity}", "is not in the bundle", _CURE, "missing"))
        elif digest.of_bytes(found[identity].data) != wanted[identity].digest:
            message = "has another digest than the manifest names"
            wrong.append(Finding(f"/{identity}", message, "keep what runs, fetch again", "digest"))
    if wrong:
        raise DocumentError(wrong)
    return found


def _inflated(data: bytes, limit: int) -> bytes:
    """The tar inside, never more than the limits allow in memory."""
    if len(data) > limit:
        raise UnsafeArchive(f"the bundle is larger than {limit} bytes", _CURE)
    allowed = min(limit, max(_RATIO_FROM, len(data) * RATIO_LIMIT))
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)  # 16: with gzip's head and checksum
    try:
        packed = inflate.decompress(data, allowed + 1)
    except zlib.error as error:
        raise UnsafeArchive(f"the bundle cannot be unpacked: {error}", _CURE) from error
    if len(packed) > allowed:
        message = f"the bundle unpacks to more than {allowed} bytes"
        raise UnsafeArchive(message, _CURE)
    if not inflate.eof:
        raise UnsafeArchive("the bundle ends too early", "fetch it again")
    if inflate.unused_data:
        raise UnsafeArchive("the bundle goes on behind its end", _CURE)
    return packed


def _files(packed: bytes) -> Iterator[tuple[str, bytes]]:
    """Each file of the archive's root."""
    names: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for entry in tar:
                if entry.isdir() and entry.name in (".", "./"):
                    continue  # how common tools name the root itself
                name = _checked_name(entry)
                if name in names:
                    raise UnsafeArchive(f"{name}: is in the bundle twice", _CURE)
                names.add(name)
                if len(names) > COUNT_LIMIT:
                    raise UnsafeArchive(f"the bundle holds over {COUNT_LIMIT} files", _CURE)
                body = tar.extractfile(entry)
                assert body is not None, "a regular file has a content"
                yield name, body.read()
    except (tarfile.TarError, ValueError, OverflowError, EOFError, OSError) as error:
        raise UnsafeArchive(f"the bundle's archive cannot be read: {error}", _CURE) from error
    if not names:
        raise UnsafeArchive("the bundle is empty", "a manifest without deployments has no bundle")


def _checked_name(entry: tarfile.TarInfo) -> str:
    """The file's name when it may be in a bundle; `./name` is how common tools write it."""
    name = entry.name.removeprefix("./")
    # A sparse file claims a size that it does not have.
    if not entry.isreg() or entry.issparse():
        raise UnsafeArchive(f"{name!r}: is no regular file", _CURE)
    if "/" in digest.check_path(name):
        raise UnsafeArchive(f"{name!r}: is not in the root", _CURE)
    return name
