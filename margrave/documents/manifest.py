"""The desired-state manifest (Margo rc.3): a client's deployments, by their exact bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from margrave import digest, json_text
from margrave.documents._checked import checked
from margrave.documents._fields import U64, Digest, Uuid
from margrave.documents._reading import Part
from margrave.documents._walk import EACH, mapping, repeated, texts, walk
from margrave.documents.generations import Kind
from margrave.findings import Finding
from margrave.yaml_text import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

# A reference is some 250 bytes and ten values: room for the ten thousand deployments of a large
# client. One that needs more is better off as two.
LIMITS: Final = Limits(size=4 * 1024 * 1024, count=150_000)
MEDIA_TYPE: Final = "application/vnd.margo.manifest.v1+json"
BUNDLE_TYPE: Final = "application/vnd.margo.bundle.v1+tar+gzip"

Version = Annotated[int, Field(ge=1, le=U64)]
Size = Annotated[int, Field(ge=0, le=U64)]


class BundleRef(Part):
    """The archive that holds all the documents."""

    mediaType: Literal["application/vnd.margo.bundle.v1+tar+gzip"]
    digest: Digest
    url: str
    sizeBytes: Size | None = None  # advisory: never a reason to refuse what the digest approves


class DeploymentRef(Part):
    """One document, by its exact bytes."""

    deploymentId: Uuid
    digest: Digest
    url: str
    sizeBytes: Size | None = None


class ManifestPart(Part):
    """The whole document."""

    manifestVersion: Version
    bundle: BundleRef | None
    deployments: list[DeploymentRef]


@dataclass(frozen=True)
class Manifest:
    """A checked manifest."""

    document: ManifestPart
    raw: Mapping[str, Any]
    digest: str  # over the exact bytes: its ETag

    @property
    def version(self) -> int:
        """The manifest's number, which only ever grows for one client."""
        return self.document.manifestVersion

    @property
    def bundle(self) -> BundleRef | None:
        """The archive of all documents; None when there are none."""
        return self.document.bundle

    @property
    def deployments(self) -> dict[str, DeploymentRef]:
        """The documents by the deployment's id in small letters."""
        return {one.deploymentId.lower(): one for one in self.document.deployments}

    def not_after(self, adopted: int | None) -> Finding | None:
        """Why a client that adopted a version must refuse this one whole; None when it may not."""
        if adopted is None or self.version > adopted:
            return None
        message = f"{self.version} is not after {adopted}, which was adopted already"
        cure = "keep what runs, and look for who replays old manifests"
        return Finding("/manifestVersion", message, cure, "rollback")


def read_manifest(data: bytes | str, file: str = "") -> Manifest:
    """The checked manifest, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file, LIMITS)
    part = checked(parsed, ManifestPart, _rules, Kind.MANIFEST)
    exact = data.encode() if isinstance(data, str) else data
    return Manifest(part, parsed.value, digest.of_bytes(exact))


def make_manifest(version: int, documents: Mapping[str, bytes], bundle: bytes | None) -> bytes:
    """The manifest of these documents (by deployment id) and their bundle, as its one text."""
    value: dict[str, Any] = {"manifestVersion": version, "bundle": None, "deployments": []}
    if documents and bundle is not None:
        of_bundle = digest.of_bytes(bundle)
        value["bundle"] = {
            "mediaType": BUNDLE_TYPE,
            "digest": of_bundle,
            "sizeBytes": len(bundle),
            "url": f"/api/v1/bundles/{of_bundle}",
        }
    for identity in sorted(documents):
        of_document = digest.of_bytes(documents[identity])
        reference = {
            "deploymentId": identity,
            "digest": of_document,
            "sizeBytes": len(documents[identity]),
            "url": f"/api/v1/deployments/{identity}/{of_document}",
        }
        value["deployments"].append(reference)
    return digest.canonical_json(value)


def _rules(parsed: Parsed) -> Iterator[Finding]:
    value = mapping(parsed.value)
    deployments = value.get("deployments")
    if deployments == [] and value.get("bundle") is not None:
        message = "packs no deployments"
        yield parsed.finding(("bundle",), message, "write null when there are none")
    if deployments and isinstance(deployments, list) and value.get("bundle", 0) is None:
        message = "is null though there are deployments"
        yield parsed.finding(("bundle",), message, "name the archive that holds them")
    for path, text in repeated(
        (at, one.lower()) for at, one in texts(value, "deployments", EACH, "deploymentId")
    ):
        yield parsed.finding(path, f"{text} stands twice", "keep one of them")
    yield from _urls(parsed)


def _urls(parsed: Parsed) -> Iterator[Finding]:
    """Addresses end as the standard says; what stands before is the server's own prefix."""
    bundle = mapping(mapping(parsed.value).get("bundle"))
    wanted = f"/api/v1/bundles/{bundle.get('digest')}"
    yield from _url(parsed, ("bundle", "url"), bundle.get("url"), wanted)
    for path, one in walk(parsed.value, "deployments", EACH):
        reference = mapping(one)
        wanted = f"/api/v1/deployments/{reference.get('deploymentId')}/{reference.get('digest')}"
        yield from _url(parsed, (*path, "url"), reference.get("url"), wanted)


def _url(parsed: Parsed, path: tuple[str | int, ...], url: Any, wanted: str) -> Iterator[Finding]:
    if not isinstance(url, str):
        return
    prefix = url.removesuffix(wanted)
    if prefix == url or not (prefix == "" or prefix.startswith(("/", "https://"))):
        yield parsed.finding(path, f'"{url[:200]}" is not its address', f"write {wanted[:200]}")
