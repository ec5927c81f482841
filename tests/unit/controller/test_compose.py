"""What is read out of a compose.yaml, and how its images are replaced."""

from __future__ import annotations

import pytest

from controller import compose

TEXT = """\
# A comment stays.
x-base: &base
  image: "registry.example/base:1"
services:
  web:
    image: registry.example/web:1   # the web
    ports: ["${PORT:-8000}:80", "127.0.0.1:9000-9001:9000-9001/udp", "7000"]
  one:
    <<: *base
  two:
    <<: [*base]
    ports:
      - {target: 53, published: 53, protocol: udp}
"""


def test_images_in_order_and_once() -> None:
    """Images are told in the order of the text; one that services share by an anchor only once."""
    assert compose.images(TEXT) == ["registry.example/base:1", "registry.example/web:1"]


def test_replacement_leaves_the_rest() -> None:
    """Only the references change: comments, quotes elsewhere and order stay."""
    new = compose.with_images(TEXT, {"registry.example/web:1": "registry.example/web:1@sha256:x"})
    assert new == TEXT.replace("example/web:1 ", "example/web:1@sha256:x ")


@pytest.mark.parametrize(
    ("variables", "first"),
    [({}, "8000/tcp"), ({"PORT": "81"}, "81/tcp"), ({"PORT": ""}, "8000/tcp")],
)
def test_host_ports(variables: dict[str, str], first: str) -> None:
    """Short and long ports, ranges and variables are read; a port without a host part is none."""
    found = compose.host_ports(TEXT, variables)
    assert found == {first, "9000/udp", "9001/udp", "53/udp"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$A-${A}", "a-a"),
        ("${B:-x}${B-y}", "x"),
        ("${C:-x}${C-y}", "xy"),
        ("${A:+on}${B:+on}${B+on}", "onon"),
        ("$$A ${C}", "$A "),
        ("${A:?must}", "a"),
    ],
)
def test_interpolation(text: str, filled: str) -> None:
    """Variables are put in as Compose does."""
    assert compose.filled(text, {"A": "a", "B": ""}) == filled
