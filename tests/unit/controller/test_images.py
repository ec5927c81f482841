"""Image references in their parts."""

from __future__ import annotations

import pytest

from controller.publish.images import Images, Reference, parse
from margrave.errors import Refused

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
