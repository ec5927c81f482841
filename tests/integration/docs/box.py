"""The lab node that stands for the box of a page, and the answers of its storefront."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx

from tests.integration.docs.reader import ROOT

if TYPE_CHECKING:
    from lab import Lab

NODE: Final = "depot-1"


def words(lab: Lab) -> dict[str, str]:
    """Return the replacements for the names that pages use."""
    return {
        "https://git.example/apps.git": str(ROOT / "examples/apps"),
        "~/.ssh/id_ed25519": str(lab.key),
        "192.0.2.17": lab.node(NODE).address,
        "press-1": NODE,
    }


def answer(lab: Lab, node: str = NODE) -> dict[str, str]:
    """Return the storefront's answer; nothing while it is being switched."""
    try:
        response = httpx.get(f"http://{lab.node(node).address}:8000/", timeout=10)
    except httpx.TransportError:
        return {}
    return dict(response.json())


def version(lab: Lab, node: str = NODE) -> str:
    """Return the version that the storefront on the node reports."""
    return answer(lab, node).get("version", "")
