# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An action that calls the collection's code where it lies on the node, and Ansible's way beside.

Inventory, connection, become, check mode, diff and result stay Ansible's own; what is spared is to
carry the module, and all that it imports, to the node for each call. Whatever is not the plain case
goes Ansible's way, which knows all the others and how each of them is told when it fails.
"""

from __future__ import annotations

import json
from typing import Any

from ansible import constants
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.margrave.edge.plugins.module_utils import _spec
from ansible_collections.margrave.edge.plugins.plugin_utils import node_code

# What the shell says of a program that is not there, or is none: nothing was done.
NO_PROGRAM = (126, 127)
# What Ansible tells a module beside its parameters, and we make use of.
SETTINGS = ("check_mode", "diff", "no_log", "module_name", "syslog_facility", "target_log_info")


class DirectAction(ActionBase):
    """Calls of one kind: `KIND`, a kind of the collection's own."""

    KIND = ""
    _supports_async = True

    def _call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """What the module answers to these arguments, whichever way it is called."""
        answer = self._called_directly(arguments, task_vars)
        if answer is None:
            wrap = self._task.async_val and not self._connection.has_native_async
            answer = self._execute_module(
                module_args=arguments, task_vars=task_vars, wrap_async=wrap
            )
        # Ansible's own way drops an empty list.
        return {"warnings": [], **answer}

    def _called_directly(
        self, arguments: dict[str, Any], task_vars: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The answer, or None where this way is not for the call; then nothing was done."""
        python = self._python(task_vars) if self._is_plain() else ""
        if not python:
            return None
        checked = ArgumentSpecValidator(_spec.of(self.KIND)).validate(arguments)
        if checked.error_messages:
            return None  # the module's own words for it are Ansible's
        asked = {"params": checked.validated_parameters, "settings": self._settings(task_vars)}
        try:
            given = json.dumps(asked).encode()
        except TypeError:
            return None  # a date, or what a vault holds: Ansible knows how to write it
        said = self._asked_there(python, given)
        return None if said is None else remove_values(node_code.read(said), checked._no_log_values)

    def _is_plain(self) -> bool:
        """Whether what is called is a POSIX shell of another machine that reads our input."""
        connection = self._connection
        return (
            not self._task.async_val
            and not self._task.delegate_to
            and not getattr(connection, "_remote_is_local", False)
            and connection.transport != "local"
            and getattr(connection._shell, "SHELL_FAMILY", "") == "sh"
            and bool(self._is_pipelining_enabled("new"))
        )

    def _python(self, task_vars: dict[str, Any]) -> str:
        """The interpreter that is configured or was found before; to find one is Ansible's part."""
        told = constants.config.get_config_value("INTERPRETER_PYTHON", variables=task_vars)
        python = str(self._templar.template(told) or "auto")
        if python.startswith("auto"):
            python = str(task_vars.get("ansible_facts", {}).get("discovered_interpreter_python"))
        return python if node_code.PLAIN.fullmatch(python) else ""

    def _settings(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        """Check mode and the like, as Ansible tells a module."""
        told: dict[str, Any] = {}
        self._update_module_args(self._task.action, told, task_vars)
        return {name: told.get(f"_ansible_{name}") for name in SETTINGS}

    def _asked_there(self, python: str, given: bytes) -> dict[str, Any] | None:
        """What a command says that makes the call; None where it cannot be made so."""
        code = node_code.node_code()
        environment = self._compute_environment_string()
        call = f"{environment} {code.call(python, self.KIND)}".strip()
        Display().vvv(f"Calling {self.KIND} of the collection's code {code.digest} on the node")
        said = self._low_level_execute_command(call, in_data=given)
        if said["rc"] == node_code.NOT_THERE:
            self._low_level_execute_command(code.lay(python), in_data=code.archive)
            said = self._low_level_execute_command(call, in_data=given)
        unable = (node_code.NOT_THERE, node_code.NOT_HERE, *NO_PROGRAM)
        return None if said["rc"] in unable else said
