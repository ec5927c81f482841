# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A call where the collection's code lies on the node already: JSON in, JSON out, and no Ansible.

Who calls has checked the parameters by the specification that the module of the kind has.
"""

from __future__ import annotations

import json
import os
import sys
import syslog
from collections.abc import Callable, Mapping
from importlib import import_module

from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# What does the work of a kind: a part of ours, and the function in it.
WORKS = {
    "install": ("_apply", "apply"),
    "update": ("_apply", "apply"),
    "prefetch": ("_prefetch", "prefetch"),
    "rollback": ("_rollback", "rollback"),
    "delete": ("_delete", "delete"),
    "info": ("_look", "look"),
}
PLACE = __name__.rpartition(".")[0]


def of(kind: str) -> Callable[[bytes], None]:
    """What answers calls of this kind; everything that it needs has been imported before."""
    part, name = WORKS[kind]
    work = getattr(import_module(f"{PLACE}.{part}"), name)
    if kind == "info":
        return lambda given: _tell(work(json.loads(given)["params"]))
    shell = import_module(f"{PLACE}._shell")

    def call(given: bytes) -> None:
        asked = json.loads(given)
        params, settings = asked["params"], asked["settings"]
        os.chdir("/")  # the folder where a login begins may be closed to who works here
        if not settings["no_log"]:
            _log(shell.log_entry(params), settings)
        _tell(shell.answer(kind, params, settings["check_mode"], settings["diff"], work))

    return call


def _tell(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")


def _log(entry: str, settings: Mapping[str, Any]) -> None:
    """Write to the node's system log as Ansible does, under the same name."""
    facility = getattr(syslog, str(settings["syslog_facility"]), syslog.LOG_USER)
    words = (settings["target_log_info"], entry)
    syslog.openlog(f"ansible-{settings['module_name']}", 0, facility)
    syslog.syslog(syslog.LOG_INFO, " ".join(one for one in words if one))
