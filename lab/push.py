"""Push images to a registry that speaks plain HTTP."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.oci import MANIFEST
from lab.plain_http import ask

if TYPE_CHECKING:
    from lab.oci import Image


def push(where: str, image: Image) -> str:
    """Make the registry hold the image under its tag; the digest of its manifest."""
    top = f"http://{where}/v2/{image.name}"
    for digest, data in image.blobs.items():
        if not _holds(f"{top}/blobs/{digest}"):
            start = _must("POST", f"{top}/blobs/uploads/")
            joint = "&" if "?" in start else "?"
            _must("PUT", f"{start}{joint}digest={digest}", data, "application/octet-stream")
    _must("PUT", f"{top}/manifests/{image.tag}", image.manifest, MANIFEST)
    return image.digest


def _holds(url: str) -> bool:
    return ask("HEAD", url).status == HTTPStatus.OK


def _must(verb: str, url: str, data: bytes | None = None, kind: str = "") -> str:
    """The answer's Location, or empty."""
    answer = ask(verb, url, data, kind)
    if answer.status >= HTTPStatus.BAD_REQUEST:
        raise LabError(f"{verb} {url}: the registry answers {answer.status}")
    return answer.location
