"""Certificates and keys that cannot be used: which file it is, and what would help."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest

from margrave import tls_files
from margrave.errors import MargraveError
from tests.support.authority import Authority


@pytest.fixture
def context() -> ssl.SSLContext:
    """Where the pair is to be shown."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and its key."""
    return Authority(tmp_path).pair("client")


def test_a_pair_is_shown(context: ssl.SSLContext, pair: tuple[Path, Path]) -> None:
    """Nothing is said of it."""
    assert tls_files.show(context, *pair) is None


def test_the_key_of_another_certificate_is_named(
    context: ssl.SSLContext, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """Also one of another kind."""
    other = tmp_path / "rsa.key"
    words = ["openssl", "genrsa", "-out", str(other), "2048"]
    subprocess.run(words, check=True, capture_output=True)
    for key in (Authority(tmp_path, "other").pair("another")[1], other):
        found = tls_files.show(context, pair[0], key)
        assert found is not None
        assert (found.path, found.message) == (key, f"is not the key of {pair[0]}")


def test_a_locked_key_asks_nobody_for_its_passphrase(
    context: ssl.SSLContext, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """A server has no terminal: it says how the key is unlocked."""
    locked = tmp_path / "locked.key"
    words = ["openssl", "pkey", "-in", str(pair[1]), "-aes256", "-passout", "pass:word"]
    subprocess.run([*words, "-out", str(locked)], check=True, capture_output=True)
    found = tls_files.show(context, pair[0], locked)
    assert found is not None
    assert (found.path, found.message) == (locked, "is locked with a passphrase")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "holds no certificate in PEM"),
        ("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", "cannot be shown with"),
    ],
)
def test_a_file_that_is_no_certificate_is_named(
    context: ssl.SSLContext, pair: tuple[Path, Path], text: str | None, words: str
) -> None:
    """The same as an error, where one is wanted."""
    pair[0].unlink()
    if text is not None:
        pair[0].write_text(text)
    found = tls_files.show(context, *pair)
    assert found is not None
    assert found.path == pair[0]
    assert found.message.startswith(words)
    with pytest.raises(MargraveError, match=f"{pair[0]}: {words}"):
        tls_files.raise_for(found)


def test_an_authority_that_is_none_is_named(context: ssl.SSLContext, tmp_path: Path) -> None:
    """Missing, or something else."""
    file = tmp_path / "ca.pem"
    for text in (None, "no certificate"):
        if text is not None:
            file.write_text(text)
        found = tls_files.believe(context, file)
        assert found is not None
        assert found.path == file
