"""OCI images written by hand: layers, configuration and manifest as bytes, the same each time.

Nothing is pulled and no container is started for building: that works without a network, without
user namespaces and on every kernel, and gives the same digests on every machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, a link (its target is set) or a folder (mode only) in a layer."""

    data: bytes = b""
    mode: int = 0o644
    link: str = ""
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """An image ready to be pushed."""

    name: str
    tag: str
    manifest: bytes
    blobs: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        return digest(self.manifest)


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def layer(entries: Mapping[str, Entry]) -> bytes:
    """An uncompressed tar: sorted, owned by root, without times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, entry in sorted(entries.items()):
            info = tarfile.TarInfo(path)
            info.mode = entry.mode
            if entry.folder:
                info.type = tarfile.DIRTYPE
            elif entry.link:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
            info.size = len(entry.data)
            tar.addfile(info, io.BytesIO(entry.data))
    return buffer.getvalue()


def image(name: str, tag: str, layers: Sequence[bytes], settings: Mapping[str, Any]) -> Image:
    """The image of these layers; `settings` is the `config` object of the OCI configuration."""
    packed = [gzip.compress(one, compresslevel=6, mtime=0) for one in layers]
    config = _json(
        {
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": settings,
            "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor(CONFIG, config),
            "layers": [_descriptor(LAYER, one) for one in packed],
        }
    )
    return Image(name, tag, manifest, {digest(one): one for one in (*packed, config)})


def _descriptor(kind: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
