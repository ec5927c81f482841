"""What is read out of a compose.yaml, and how its images are replaced."""

from __future__ import annotations

import json
import time

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


def test_ranges_of_ports_are_counted_once() -> None:
    """Ranges that overlap, and numbers that are no ports, are read in no time."""
    ports = [f"{low}-65535:{low}-65535" for low in range(61_500, 65_500)]
    text = json.dumps({"services": {"web": {"image": "x", "ports": [*ports, "9" * 5_000 + ":1"]}}})
    begin = time.process_time()

    found = compose.host_ports(text, {})

    assert found == {f"{number}/tcp" for number in range(61_500, 65_536)}
    assert time.process_time() - begin < 0.5


@pytest.mark.parametrize("published", ["9" * 5_000, "\u00b2", "1-" + "9" * 5_000])
def test_a_number_that_is_no_port_is_no_port(published: str) -> None:
    """What Python does not read as a number is left out."""
    port = {"target": 1, "published": published}
    text = json.dumps({"services": {"web": {"image": "x", "ports": [port]}}})

    assert compose.host_ports(text, {}) == set()
