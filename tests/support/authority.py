"""A certificate authority of a test's own: certificates for servers of this machine and clients."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)
PEM = serialization.Encoding.PEM


class Authority:
    """Signs what it is asked to; `ca` is its own certificate."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(self._made(name, self._key, authority=True))

    def pair(self, name: str) -> tuple[Path, Path]:
        """Certificate and key for 127.0.0.1, and for who calls itself so."""
        key = ec.generate_private_key(ec.SECP256R1())
        cert, file = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        cert.write_bytes(self._made(name, key, authority=False))
        form = serialization.PrivateFormat.PKCS8
        file.write_bytes(key.private_bytes(PEM, form, serialization.NoEncryption()))
        return cert, file

    def _made(self, name: str, key: ec.EllipticCurvePrivateKey, *, authority: bool) -> bytes:
        now = dt.datetime.now(dt.UTC)
        here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        return (
            x509.CertificateBuilder()
            .subject_name(_called(name))
            .issuer_name(_called(self._name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([here]), critical=False)
            .add_extension(_named(key), critical=False)
            .add_extension(_signed_by(self._key), critical=False)
            .sign(self._key, hashes.SHA256())
            .public_bytes(PEM)
        )


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _named(key: ec.EllipticCurvePrivateKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key.public_key())


def _signed_by(key: ec.EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
