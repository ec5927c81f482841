"""The runner's doors over TLS."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from flask import Flask

from margrave.sections import Tls
from runner.tls_server import AT_ONCE, TlsServer
from tests.support.waiting import eventually


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    """A certificate for this machine, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "runner")])
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(pem, form, serialization.NoEncryption())
    (tmp_path / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(secret)
    return Tls(cert=tmp_path / "cert.pem", key=tmp_path / "key.pem")


@pytest.fixture
def url(tls: Tls) -> Iterator[str]:
    """An application behind TLS."""
    app = Flask("test")
    app.add_url_rule("/healthz", view_func=lambda: {"status": "ok"})
    listener = socket.create_server(("127.0.0.1", 0))
    server = TlsServer(app, listener, tls)
    threading.Thread(target=server.run, daemon=True).start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    server.close()


def test_https_answers_and_a_silent_client_holds_nobody(url: str, tls: Tls) -> None:
    """While one client says nothing, another one is served."""
    port = int(url.rpartition(":")[2])
    trust = ssl.create_default_context(cafile=str(tls.cert))
    with socket.create_connection(("127.0.0.1", port)):
        answer = httpx.get(url + "/healthz", verify=trust)
    assert answer.json() == {"status": "ok"}


def test_more_clients_than_are_served_at_once_take_no_threads(url: str, tls: Tls) -> None:
    """Hundreds that say nothing cost what is set aside for them; the next one is served again."""
    port = int(url.rpartition(":")[2])
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    serving = lambda: len(set(threading.enumerate()) - before)  # noqa: E731
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(2 * AT_ONCE)]
    eventually(lambda: serving() >= AT_ONCE, 60, "as many as are served at once")
    # Those beyond are turned away, one after the other, without a thread of their own.
    silent[AT_ONCE].settimeout(30)
    assert silent[AT_ONCE].recv(1) == b""
    assert serving() <= AT_ONCE
    for one in silent:
        one.close()
    trust = ssl.create_default_context(cafile=str(tls.cert))
    assert httpx.get(url + "/healthz", verify=trust, timeout=60).status_code == 200


def test_plain_http_gets_no_answer(url: str) -> None:
    """Nothing is said to who does not speak TLS."""
    with pytest.raises(httpx.HTTPError):
        httpx.get(url.replace("https", "http") + "/healthz")
