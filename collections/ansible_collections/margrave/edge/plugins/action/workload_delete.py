# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's side of workload_delete."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.plugin_utils.workload_action import WorkloadAction


class ActionModule(WorkloadAction):
    """Calls the module."""

    KIND = "delete"
