# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What workload_info answers, and the same as a program: a site runner that looks at its nodes once
a minute starts this over SSH, without Ansible, which costs several times as much as the look.
"""

from __future__ import annotations

import json
import sys

from ansible_collections.margrave.edge.plugins.module_utils import _fence
from ansible_collections.margrave.edge.plugins.module_utils._errors import EdgeError
from ansible_collections.margrave.edge.plugins.module_utils._info import workloads
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout


def look(layout: Layout, deployment: str | None) -> dict:
    """All deployments of the node, or one; with `error` when the node cannot tell."""
    try:
        found = workloads(layout, deployment)
    except EdgeError as error:
        return {"msg": error.message, "error": error.as_dict(), "workloads": []}
    return {"changed": False, "workloads": found, "fence": _fence.told(layout)}


def main() -> None:
    """Answer on standard output; the argument is the deployment, or nothing for all."""
    deployment = sys.argv[1] if len(sys.argv) > 1 else None
    sys.stdout.write(json.dumps(look(Layout(), deployment)))
