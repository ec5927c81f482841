"""How far packages may reach into nodes: the site's policy, narrowed by the runner's own. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from margrave.documents.site import SiteDocument

_WORDS: Final = ("privileged", "host_namespaces")
_LISTS: Final = ("host_paths", "devices", "capabilities", "registries")
_EVERYTHING: Final = "*"


def narrowed(site: SiteDocument, own: Mapping[str, Any]) -> dict[str, Any]:
    """The site's policy where the runner says nothing; never more than either allows."""
    policy: dict[str, Any] = site.policy.model_dump()
    for key in _WORDS:
        if own.get(key) == "deny":
            policy[key] = "deny"
    for key in _LISTS:
        limit = own.get(key)
        if limit is not None:
            policy[key] = _common(policy[key], list(limit))
    return policy


def _common(wanted: list[str], limit: list[str]) -> list[str]:
    if _EVERYTHING in limit:
        return wanted
    if _EVERYTHING in wanted:
        return limit
    return [one for one in wanted if one in limit]
