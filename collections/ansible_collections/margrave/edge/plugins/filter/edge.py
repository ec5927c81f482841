# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters for playbooks that work with Margo documents."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.margrave.edge.plugins.plugin_utils import (
    documents,
    packages,
    packing,
    quantities,
)


def workload(document: Any, content: str) -> dict[str, Any]:
    """A deployment document as parameters of workload_install."""
    return _told(lambda: documents.workload(document, content))


def package(
    description: Any, folder: str, parameters: Any = None, name: str | None = None
) -> dict[str, Any]:
    """An application package as parameters of workload_install."""
    return _told(lambda: _packaged(description, folder, parameters or {}, name))


def revision(document: Any) -> str:
    """The digest of what a deployment document makes run."""
    return _told(lambda: documents.revision(document))


def digest(folder: str) -> str:
    """The digest of a component's folder."""
    return packing.digest(packing.packed(folder))


def to_bytes(amount: str | int) -> int:
    """An amount of memory or storage in bytes."""
    try:
        return quantities.in_bytes(amount)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


def to_quantity(count: int) -> str:
    """Bytes as applications state them."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise AnsibleFilterError(f"{count!r} is no number of bytes (give a whole number)")
    return quantities.in_words(count)


def _packaged(
    description: Any, folder: str, parameters: dict[str, Any], name: str | None
) -> dict[str, Any]:
    places: dict[str, str] = {}

    def known(path: str) -> str:
        place = os.path.join(folder, path)
        found = digest(place)
        places[found] = place
        return found

    found = documents.workload(packages.document(description, parameters, name, known), "")
    for component in found["components"]:
        if "src" in component:
            component["src"] = places[component["digest"]]
    return found


def _told(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except documents.Unusable as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """What Ansible finds here."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by name."""
        return {
            "digest": digest,
            "package": package,
            "revision": revision,
            "to_bytes": to_bytes,
            "to_quantity": to_quantity,
            "workload": workload,
        }
