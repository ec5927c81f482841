"""`docs/howto/tls.md`: each way to have TLS, with the wrong turns of certificates."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.authority import Authority
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.docs.reader import Reader

pytestmark = pytest.mark.full

PAGE = Page("tls")
OWN, PROXY, CA, CLIENT = PAGE.texts("toml")
LOGIN, LOGIN_WITH_CERTIFICATE = PAGE.lines()
# What the pages before this one have led to: a site, its name and its token.
SITE = '[site]\nname = "harbor"\n[controller]\ntoken = "…"\n[git]\nusername = "harbor"\n'


@pytest.fixture
def folder(controller_reader: Reader) -> Iterator[Path]:
    """Return the folder that stands for `/etc/margrave`, with certificates of an own authority."""
    reader = controller_reader
    folder = reader.folder / "etc"
    (folder / "tls").mkdir(parents=True)
    authority = Authority(folder, "ca")
    for name, cert, key in (
        ("server", "etc/tls/cert.pem", "etc/tls/key.pem"),
        ("oslo", "etc/tls/oslo.pem", "etc/tls/oslo-key.pem"),
        ("ann", "ann.pem", "ann-key.pem"),
    ):
        for made, place in zip(authority.pair(name), (cert, key), strict=True):
            made.rename(reader.folder / place)
    port = reader.ports["controller"]
    reader.words |= {
        "/etc/margrave": str(folder),
        "0.0.0.0:8800": f"0.0.0.0:{port}",
        "127.0.0.1:8800": f"127.0.0.1:{port}",
        "https://margrave.example:8800": f"https://127.0.0.1:{port}",
    }
    # The page says where to listen; nothing may stand above it.
    del reader.settings["controller"]["MARGRAVE_HTTP__BIND"]
    reader.type("margrave site add harbor")
    yield folder


def test_tls(controller_reader: Reader, folder: Path) -> None:
    """A proxy in front, own certificates, an own authority, certificates that clients show."""
    reader = controller_reader
    _trust_a_proxy(reader)
    _serve_with_certificates(reader, folder)
    _connect_a_runner(reader, folder)
    _ask_for_certificates(reader, folder)
    assert unexecuted("tls", reader.executed) == []


def _trust_a_proxy(reader: Reader) -> None:
    """The address of who asks is the one that the proxy reports."""
    reader.configure(reader.controller_file, PROXY)
    reader.restart("controller")
    login = {"user": "admin", "password": "wrong"}
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    answer = httpx.post(f"{reader.url}/api/v1/login", json=login, headers=forwarded)
    assert answer.status_code == 401
    assert "203.0.113.9" in reader.log("controller") + reader.type("margrave audit list -o json")
    whole = reader.controller_file.read_text()
    reader.controller_file.write_text(whole.replace('["127.0.0.1"]', '["localhost"]'))
    assert "write 10.0.0.5 or 10.0.0.0/24" in reader.refused_start("controller")
    reader.controller_file.write_text(whole)
    reader.stop("controller")


def _serve_with_certificates(reader: Reader, folder: Path) -> None:
    """Beyond loopback it wants TLS; a certificate or key that does not fit is named."""
    reader.controller_file.write_text(
        reader.controller_file.read_text().replace('trusted_proxies = ["127.0.0.1"]\n', "")
    )
    reader.configure(reader.controller_file, OWN.partition("[http.tls]")[0])
    without = reader.refused_start("controller")
    assert "is not loopback and has no TLS" in without and "http.tls.cert" in without
    reader.configure(reader.controller_file, OWN)
    key = folder / "tls/key.pem"
    for wrong, words in (
        (None, "cannot be read"),
        (folder / "tls/oslo-key.pem", "is not the key of"),
    ):
        kept = key.read_bytes()
        key.unlink()
        if wrong:
            key.write_bytes(wrong.read_bytes())
        refused = reader.refused_start("controller")
        assert str(key) in refused and words in refused, refused
        key.write_bytes(kept)
    reader.tls = ssl.create_default_context(cafile=folder / "ca.pem")
    reader.start("controller")

    line, wrong_login = f"{LOGIN} --user admin", LOGIN.replace("https:", "http:")
    reader.executed.add(LOGIN)
    untrusted = reader.type(line.partition(" ")[2], 6)
    assert "SSL_CERT_FILE" in untrusted, untrusted
    reader.words["http://margrave.example:8800"] = reader.url
    assert "https://" in reader.type(f"{wrong_login} --user admin", 6)
    reader.type(line)


def _connect_a_runner(reader: Reader, folder: Path) -> None:
    """The runner believes the controller by the authority that its file names, and by no other."""
    reader.write(reader.runner_file, SITE)
    reader.configure(reader.runner_file, CA)
    reader.configure(reader.runner_file, '[git]\npassword = "…"\n')
    whole = reader.runner_file.read_text()
    reader.runner_file.write_text(whole.replace(str(folder / "ca.pem"), str(folder / "gone.pem")))
    refused = reader.refused_start("runner")
    assert "gone.pem cannot be read" in refused and "/controller/ca_file" in refused, refused
    reader.runner_file.write_text(whole)
    reader.start("runner")
    reader.settings[""] = {"SSL_CERT_FILE": str(folder / "ca.pem")}
    eventually(lambda: "fresh" in _typed(reader, "margrave site list"), 60, "the site reports")


def _typed(reader: Reader, line: str) -> str:
    return reader.type(f"SSL_CERT_FILE=/etc/margrave/ca.pem {line}")


def _ask_for_certificates(reader: Reader, folder: Path) -> None:
    """With `client_ca` nobody comes in without a certificate: no runner, no Git, no command."""
    clients = f'[http.tls]\nclient_ca = "{folder / "ca.pem"}"\n'
    reader.configure(reader.controller_file, clients)
    assert reader.tls is not None
    reader.tls.load_cert_chain(folder / "tls/oslo.pem", folder / "tls/oslo-key.pem")
    reader.restart("controller")
    refused = _refused(reader, "margrave site list")
    assert "certificate" in refused and "--cert" in refused, refused
    eventually(
        lambda: "certificate" in _runner_trouble(reader), 120, "the runner says what it lacks"
    )

    reader.configure(reader.runner_file, CLIENT)
    whole = reader.runner_file.read_text()
    reader.runner_file.write_text(whole.replace("oslo-key.pem", "key.pem"))
    refused = reader.refused_start("runner")
    assert "is not the key of" in refused and "key.pem" in refused, refused
    reader.runner_file.write_text(whole)
    reader.restart("runner")

    login = f"{LOGIN_WITH_CERTIFICATE} --user admin"
    reader.executed.add(LOGIN_WITH_CERTIFICATE)
    half = login.partition(" --key")[0] + " --user admin"
    half_pair = reader.type(f"SSL_CERT_FILE=/etc/margrave/ca.pem {half}", 1)
    assert "certificate and its key belong together" in half_pair
    missing = login.replace("ann.pem", "bob.pem")
    assert "bob.pem" in reader.type(f"SSL_CERT_FILE=/etc/margrave/ca.pem {missing}", 1)
    _typed(reader, login)
    eventually(lambda: "fresh" in _typed(reader, "margrave site list"), 60, "the site reports")


def _refused(reader: Reader, line: str) -> str:
    return reader.type(f"SSL_CERT_FILE=/etc/margrave/ca.pem {line}", 6)


def _runner_trouble(reader: Reader) -> str:
    return reader.type("margrave runner status")
