"""Bundles: the same bytes each time, and nothing believed of those from elsewhere."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from margrave import bundle
from margrave.documents.manifest import make_manifest, read_manifest
from margrave.errors import DocumentError, UnsafeArchive
from tests.unit.margrave.margo_making import digest_of, documents

if TYPE_CHECKING:
    from collections.abc import Callable


def packed(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A gzip tar of these entries, as anybody may make one."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for entry, data in entries:
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(buffer.getvalue())


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    """One entry."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


DOCUMENT = next(iter(documents(1).values()))


def test_the_same_documents_are_the_same_bytes() -> None:
    """Whatever their order; no time, no owner, no machine shows."""
    made = bundle.write(documents(3))

    assert made == bundle.write(dict(reversed(documents(3).items())))
    assert made[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(made))) as tar:
        assert [one.name for one in tar] == [f"{identity}.yaml" for identity in documents(3)]
        assert {(one.mtime, one.uid, one.gid, one.uname, one.mode) for one in tar} == {
            (0, 0, 0, "", 0o644)
        }


def test_what_was_written_is_read() -> None:
    """Each document by the id inside it, with its exact bytes."""
    found = bundle.read(bundle.write(documents(3)))

    assert {key: one.data for key, one in found.items()} == documents(3)


def test_names_do_not_matter() -> None:
    """The standard leaves them open, and common tools write `./`."""
    made = packed((entry("./", tarfile.DIRTYPE), b""), (entry("./a"), DOCUMENT))

    assert list(bundle.read(made)) == list(documents(1))


UNSAFE: dict[str, tuple[Callable[[], bytes], str]] = {
    "not gzip": (lambda: b"PK\x03\x04", "cannot be unpacked"),
    "not tar": (lambda: gzip.compress(b"x" * 2000), "cannot be read"),
    "empty": (lambda: packed(), "is empty"),
    "cut off": (lambda: bundle.write(documents(2))[:-20], "ends too early"),
    "something behind": (lambda: bundle.write(documents(1)) + b"x", "goes on behind its end"),
    "wrong checksum": (lambda: bundle.write(documents(1))[:-8] + bytes(8), "cannot be unpacked"),
    "symbolic link": (
        lambda: packed((entry("a", tarfile.SYMTYPE, "/etc/passwd"), b"")),
        "'a': is no regular file",
    ),
    "hard link": (lambda: packed((entry("a", tarfile.LNKTYPE, "b"), b"")), "is no regular file"),
    "device": (lambda: packed((entry("a", tarfile.CHRTYPE), b"")), "is no regular file"),
    "pipe": (lambda: packed((entry("a", tarfile.FIFOTYPE), b"")), "is no regular file"),
    "folder": (lambda: packed((entry("a", tarfile.DIRTYPE), b"")), "is no regular file"),
    "parent": (lambda: packed((entry("../a"), DOCUMENT)), "is not a path inside"),
    "absolute": (lambda: packed((entry("/a"), DOCUMENT)), "is not a path inside"),
    "deeper": (lambda: packed((entry("b/a"), DOCUMENT)), "'b/a': is not in the root"),
    "a name twice": (
        lambda: packed((entry("a"), DOCUMENT), (entry("./a"), DOCUMENT)),
        "a: is in the bundle twice",
    ),
    "too many": (
        lambda: packed(*((entry(str(number)), b"") for number in range(3))),
        "holds over 2 files",
    ),
    "bomb": (lambda: gzip.compress(bytes(5_000_000)), "unpacks to more than [0-9]+ bytes"),
}


@pytest.mark.parametrize("name", sorted(UNSAFE))
def test_an_unsafe_archive_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything of it is used."""
    made, words = UNSAFE[name]
    if name == "too many":
        monkeypatch.setattr(bundle, "COUNT_LIMIT", 2)
        monkeypatch.setattr(bundle, "read_deployment", lambda body, name: _Named(name))

    with pytest.raises(UnsafeArchive, match=words):
        bundle.read(made())


class _Named:
    def __init__(self, name: str) -> None:
        self.id = name


def test_a_sparse_file_is_no_regular_one() -> None:
    """It claims a size that would be made of nothing."""
    made = entry("a")
    made.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,1",
        "GNU.sparse.size": str(2**40),
    }

    with pytest.raises(UnsafeArchive, match="is no regular file"):
        bundle.read(packed((made, b"x")))


def test_size_is_limited_whatever_the_ratio() -> None:
    """A bundle is documents, not payload."""
    with pytest.raises(UnsafeArchive, match="unpacks to more than 2000 bytes"):
        bundle.read(bundle.write(documents(2)), limit=2000)
    with pytest.raises(UnsafeArchive, match="is larger than 10 bytes"):
        bundle.read(bundle.write(documents(2)), limit=10)


def test_wrong_documents_are_told_all_together() -> None:
    """By the names that they have in the bundle."""
    made = packed((entry("a"), b"id: 1\n"), (entry("b"), b"{"), (entry("c"), DOCUMENT))

    with pytest.raises(DocumentError) as refused:
        bundle.read(made)

    assert {one.file for one in refused.value.findings} == {"a", "b"}


def test_one_deployment_is_in_a_bundle_once() -> None:
    """Whatever its files are called."""
    with pytest.raises(DocumentError, match="is in the bundle twice"):
        bundle.read(packed((entry("a"), DOCUMENT), (entry("b"), DOCUMENT)))


def test_a_bundle_holds_exactly_what_its_manifest_names() -> None:
    """Each by its digest; and the bundle itself by its own."""
    made = bundle.write(documents(3))
    manifest = read_manifest(make_manifest(7, documents(3), made))

    assert list(bundle.read_for(manifest, made)) == list(documents(3))
    with pytest.raises(UnsafeArchive, match="digest is not the manifest's"):
        bundle.read_for(manifest, bundle.write(documents(2)))


def test_what_a_manifest_does_not_name_is_told() -> None:
    """What is missing, what is too much, and what is of other bytes."""
    changed = {identity: data + b"\n" for identity, data in documents(3).items()}
    other = dict(list(documents(4).items())[1:])
    made = bundle.write({**other, **dict(list(changed.items())[1:2])})
    named = read_manifest(make_manifest(7, documents(3), made))

    with pytest.raises(DocumentError) as refused:
        bundle.read_for(named, made)

    assert [(one.pointer[-1], one.code) for one in refused.value.findings] == [
        ("0", "missing"),
        ("1", "digest"),
        ("3", "unknown"),
    ]
    assert digest_of(made) == named.document.bundle.digest  # type: ignore[union-attr]


def test_no_deployments_have_no_bundle() -> None:
    """There is nothing to fetch then."""
    with pytest.raises(UnsafeArchive, match="the manifest has no bundle"):
        bundle.read_for(read_manifest(make_manifest(7, {}, None)), b"")
