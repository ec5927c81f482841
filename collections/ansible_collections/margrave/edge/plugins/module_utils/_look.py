# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What workload_info answers."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.margrave.edge.plugins.module_utils import _fence, _rights
from ansible_collections.margrave.edge.plugins.module_utils._errors import EdgeError, sentence
from ansible_collections.margrave.edge.plugins.module_utils._info import workloads
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._types import Any


def look(params: Mapping[str, Any]) -> dict:
    """All deployments of the node, or one; with `error` when the node cannot tell."""
    layout = Layout()
    try:
        _rights.require_root()
        found = workloads(layout, params.get("deployment"))
    except EdgeError as error:
        fields = error.as_dict()
        return {"msg": sentence(fields), "error": fields, "workloads": []}
    return {"changed": False, "workloads": found, "fence": _fence.told(layout)}
