"""The address of a client, with and without proxies that are trusted."""

from __future__ import annotations

import pytest

from controller.edge import proxies

TRUSTED = proxies.networks(["10.0.0.0/8", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # no proxy of ours says so
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"),  # the first is the client's word
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "unknown", "10.0.0.1"),
        ("10.0.0.1", "nonsense, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.7:4711", "198.51.100.7"),
        ("fd00::1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("", "198.51.100.7", ""),
    ],
)
def test_the_last_address_that_a_trusted_proxy_saw(peer: str, forwarded: str, address: str) -> None:
    """X-Forwarded-For counts from its end, as far as trusted proxies vouch for it."""
    assert proxies.client_address(peer, forwarded, TRUSTED) == address


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_the_source_of_attempts(address: str, source: str) -> None:
    """An IPv4 address, or the network that an IPv6 client owns."""
    assert proxies.source_of(address) == source
