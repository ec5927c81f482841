# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters for playbooks that work with Margo documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.margrave.edge.plugins.plugin_utils import documents, packing


def workload(document: Any, content: str) -> dict[str, Any]:
    """A deployment document as parameters of workload_install."""
    return _told(lambda: documents.workload(document, content))


def revision(document: Any) -> str:
    """The digest of what a deployment document makes run."""
    return _told(lambda: documents.revision(document))


def digest(folder: str) -> str:
    """The digest of a component's folder."""
    return packing.digest(packing.packed(folder))


def _told(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except documents.Unusable as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """What Ansible finds here."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by name."""
        return {"digest": digest, "revision": revision, "workload": workload}
