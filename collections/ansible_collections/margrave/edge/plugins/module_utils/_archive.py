# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A component's content, taken out of its canonical archive after its digest was checked."""

from __future__ import annotations

import base64
import binascii
import os

from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, ImageError

SIZE_LIMIT = 64 * 1024 * 1024
COUNT_LIMIT = 10_000


def verified(name: str, archive: str, digest: str) -> bytes:
    """The archive's bytes, or ImageError when they are not what the digest names."""
    try:
        data = base64.b64decode(archive, validate=True)
    except (ValueError, binascii.Error) as error:
        raise ConfigError(
            "archive-unreadable",
            f"components.{name}.archive: is not base64: {error}",
            "leave it to the action plugin: give src",
        ) from error
    verify(name, data, digest)
    return data


def verify(name: str, data: bytes, digest: str) -> None:
    """Refuse content that is not what the digest names."""
    found = digest_of(data)
    if found != digest:
        raise ImageError(
            "digest-mismatch",
            f"components.{name}: content has digest {found}, wanted is {digest}",
            "publish the application again; what runs stays as it is",
        )


def digest_of(data: bytes) -> str:
    """How content is named."""
    return "sha256:" + sha256(data).hexdigest()


def unpack(name: str, data: bytes, folder: str) -> None:
    """Write the archive's files below the folder; links, devices and outside paths are refused."""
    # Imported here because only a new release pays for the tar reader's start.
    import io
    import tarfile

    total = count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for entry in tar:
                total, count = total + entry.size, count + 1
                if total > SIZE_LIMIT or count > COUNT_LIMIT:
                    raise _unsafe(name, entry.name, "is more than a component may hold")
                if not entry.isfile() or not is_inside(entry.name):
                    raise _unsafe(name, entry.name, "is a link, a device or a path outside")
                body = tar.extractfile(entry)
                _write(os.path.join(folder, entry.name), body.read() if body else b"", entry.mode)
    except tarfile.TarError as error:
        raise _unsafe(name, "archive", f"cannot be read: {error}") from error


def is_inside(path: str) -> bool:
    """Whether a path is relative, written plainly, and stays inside its folder."""
    parts = path.split("/")
    return all(part not in ("", ".", "..") for part in parts) and not set(path) & {"\\", "\0"}


def _write(path: str, data: bytes, mode: int) -> None:
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    # Containers read mounted files as users of their own, so these keep the archive's modes; the
    # folders above are root's alone.
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755 if mode & 0o111 else 0o644)


def _unsafe(name: str, path: str, finding: str) -> ConfigError:
    return ConfigError(
        "unsafe-archive",
        f"components.{name}: {path}: {finding}",
        "keep regular files inside the component's folder",
    )
