"""The address of a client, also behind proxies that are trusted to report it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks that `http.trusted_proxies` names; ValueError for anything else."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def address_of(text: str) -> Address | None:
    """Read an address, with or without a port; an IPv4 address in IPv6 clothes is IPv4."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def trusted(address: Address | None, proxies: tuple[Network, ...]) -> bool:
    """Return True for the address of a trusted proxy."""
    return address is not None and any(address in network for network in proxies)


def client_address(peer: str, forwarded: str, proxies: tuple[Network, ...]) -> str:
    """Return the address a request came from.

    X-Forwarded-For is read from its end: each trusted proxy vouches for the entry before its own,
    and what a client wrote itself is never reached.
    """
    current = address_of(peer)
    for entry in reversed(forwarded.split(",")):
        if not trusted(current, proxies):
            break
        reported = address_of(entry)
        if reported is None:
            break
        current = reported
    return peer if current is None else str(current)


def source_of(address: str) -> str:
    """Return the source that attempts from an address count for: an IPv6 client owns a /64."""
    known = address_of(address)
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((known, 64), strict=False))
    return address if known is None else str(known)


class Forwarded:
    """WSGI middleware that puts the client's address in place of the proxy's."""

    def __init__(self, application: Application, proxies: Iterable[str]) -> None:
        self._application = application
        self._proxies = networks(proxies)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Handle one request."""
        peer = environ.get("REMOTE_ADDR") or ""
        forwarded = environ.get("HTTP_X_FORWARDED_FOR", "")
        environ["REMOTE_ADDR"] = client_address(peer, forwarded, self._proxies)
        return self._application(environ, start_response)
