"""Image references in their parts."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from controller.publish.images import Images, Reference, parse
from margrave.errors import Refused, Unreachable
from margrave.sections import Registry

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("nginx", Reference("docker.io", "library/nginx", "latest")),
        ("grafana/loki:3", Reference("docker.io", "grafana/loki", "3")),
        ("localhost/x", Reference("localhost", "x", "latest")),
        ("registry.lab:5000/a/b:1.0", Reference("registry.lab:5000", "a/b", "1.0")),
        (f"quay.io/x/y@{DIGEST}", Reference("quay.io", "x/y", "latest", DIGEST)),
    ],
)
def test_parts(text: str, reference: Reference) -> None:
    """Host, name, tag and digest are found, with Docker's defaults."""
    assert parse(text) == reference


@pytest.mark.parametrize("text", ["x:", "quay.io/x@sha256:1", ""])
def test_no_reference(text: str) -> None:
    """What is no reference is refused with how to write one."""
    with pytest.raises(Refused, match="write registry/name:tag"):
        parse(text)


def test_left_alone() -> None:
    """A reference with a digest or a variable asks no registry and stays as it is."""
    images = Images(())
    assert images.pinned(f"quay.io/x@{DIGEST}") == f"quay.io/x@{DIGEST}"
    assert images.pinned("quay.io/x:${TAG}") == "quay.io/x:${TAG}"


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"",
    ],
    ids=["another protocol", "half an answer", "no chunk", "nothing"],
)
def test_what_speaks_no_http_does_not_answer(said: bytes) -> None:
    """Whatever a registry's port says instead: it is away, and what asked it waits."""
    listener = socket.create_server(("127.0.0.1", 0))

    def speak() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return  # the end of the test: the port is shut below
            with line, contextlib.suppress(OSError):  # who asks may have gone
                line.recv(65536)
                line.sendall(said)

    speaker = threading.Thread(target=speak)
    speaker.start()
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    images = Images([Registry(host="shop.example", address=address, insecure=True)])
    try:
        with pytest.raises(Unreachable, match=r"registry shop\.example does not answer"):
            images.pinned("shop.example/web:1")
    finally:
        listener.shutdown(socket.SHUT_RDWR)  # closing alone would leave accept() waiting
        speaker.join()
        listener.close()
