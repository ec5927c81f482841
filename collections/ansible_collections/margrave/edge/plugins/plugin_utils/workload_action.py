# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the actions of workload modules do: pack each component's folder, call the module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible_collections.margrave.edge.plugins.plugin_utils import arguments_file, packing
from ansible_collections.margrave.edge.plugins.plugin_utils.direct_call import DirectAction
from ansible_collections.margrave.edge.plugins.plugin_utils.strays import strays


class WorkloadAction(DirectAction):
    """One call of the module of the same name, with the content in its parameters."""

    # Everything travels in the parameters, so no file needs to be copied beside the module.
    TRANSFERS_FILES = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Pack, call, and give the module's answer without repeating the parameters."""
        result = super().run(tmp, task_vars)
        arguments = self._arguments((task_vars or {}).get("inventory_hostname", ""))
        components = arguments.get("components")
        if components is not None:
            arguments["components"] = self._with_content(components)
        result.update(self._call(arguments, task_vars or {}))
        return result

    def _arguments(self, host: str) -> dict[str, Any]:
        """Return the task's parameters, and those that stand in a file for the host."""
        arguments = dict(self._task.args)
        given = arguments.pop("arguments_from", None)
        if given is None:
            return arguments
        path = Path(self._loader.path_dwim(given))
        try:
            found = arguments_file.load(path, host)
        except (OSError, ValueError) as error:
            message = f"arguments_from: {path} cannot be read for {host}: {error}"
            raise AnsibleActionFail(message) from error
        if not isinstance(found, dict):
            raise AnsibleActionFail(
                f"arguments_from: {path} holds no mapping of parameters for {host}"
            )
        return {**arguments, **found}

    def _with_content(self, components: Any) -> list[dict[str, Any]]:
        if not isinstance(components, list) or not all(isinstance(c, dict) for c in components):
            raise AnsibleActionFail("components: is not a list of mappings (see ansible-doc)")
        return [self._packed(dict(one)) for one in components]

    def _source(self, name: str, src: str) -> str:
        """Find a component's folder where Ansible looks for files: in the role, then the play."""
        try:
            return str(self._find_needle("files", src))
        except AnsibleError as error:
            raise AnsibleActionFail(f"components.{name}.src: {error}") from error

    @staticmethod
    def _refuse_strays(name: str, files: dict[str, bytes]) -> None:
        """A package that reads what is not its own does not even travel."""
        found = strays(files)
        if found:
            words = "; ".join(f"components.{name}: {one}" for one in found)
            cure = "put the file into the component's folder and publish the application again"
            error = {"class": "config", "code": "stray-file", "message": words, "cure": cure}
            raise AnsibleActionFail(f"{words} ({cure})", result={"error": error, "changed": False})

    def _packed(self, component: dict[str, Any]) -> dict[str, Any]:
        src = component.pop("src", None)
        if src is None:
            if not component.get("archive") and not component.get("repository"):
                raise AnsibleActionFail(
                    f"components.{component.get('name')}.src: is missing (give the folder)"
                )
            return component
        folder = self._source(str(component.get("name")), src)
        files = packing.contents(folder)
        self._refuse_strays(str(component.get("name")), files)
        archive = packing.packed(folder, files)
        found = packing.digest(archive)
        wanted = component.setdefault("digest", found) or found
        if wanted != found:
            raise AnsibleActionFail(
                f"components.{component.get('name')}: {src} has digest {found}, wanted is {wanted}"
                " (publish the application again)",
                result={"error": _mismatch(str(component.get("name")), found, wanted)},
            )
        return {**component, "digest": found, "archive": packing.text(archive)}


def _mismatch(name: str, found: str, wanted: str) -> dict[str, str]:
    return {
        "class": "image",
        "code": "digest-mismatch",
        "message": f"components.{name}: content has digest {found}, wanted is {wanted}",
        "cure": "publish the application again; what runs stays as it is",
    }
