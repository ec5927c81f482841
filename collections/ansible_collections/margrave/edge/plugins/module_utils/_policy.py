# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The site's policy, applied to a resolved Compose model. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._compose_values import (
    capability,
    is_below_any,
    registry_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

__all__ = ["capability", "check", "check_stored", "is_below_any", "registry_of"]


def check(component: str, model: dict, folder: str | Iterable[str], policy: dict) -> None:
    """Raise ConfigError with everything in a model that the policy does not allow.

    `folder` is where the package's own files are; there may be several.
    """
    # Charts use this module too, and need nothing of the table.
    from ansible_collections.margrave.edge.plugins.module_utils._compose_check import findings

    roots = [folder] if isinstance(folder, str) else list(folder)
    refused = findings(model, str(model.get("name") or ""), roots, policy)
    if refused:
        raise ConfigError(
            "policy",
            "; ".join(
                f"components.{component}: {path}: {reason}" for path, reason, _opens in refused
            ),
            _fix([opens for _path, _reason, opens in refused]),
        )


def check_stored(component: str, model: dict, folder: str | Iterable[str], policy: dict) -> None:
    """Check a model that was stored to be run: it has our own labels, which no package may set."""
    stored = {
        kind: {name: _without_ours(part) for name, part in (model.get(kind) or {}).items()}
        for kind in ("services", "networks", "volumes")
    }
    check(component, {**model, **stored}, folder, policy)


def _without_ours(part: dict | None) -> dict | None:
    if not part or not part.get("labels"):
        return part
    labels = {key: text for key, text in part["labels"].items() if not key.startswith("margrave.")}
    return {**part, "labels": labels}


def _fix(keys: Iterable[str | None]) -> str:
    """Return the fix: the keys of the policy that would allow it, as far as there are any."""
    opens = list(dict.fromkeys(keys))
    named = ", ".join(key for key in opens if key)
    if not named:
        return "change the application: no policy allows this"
    rest = "; no policy allows the rest" if None in opens else ""
    return f"change the application, or widen {named} in the policy of sites/<site>.yaml{rest}"
