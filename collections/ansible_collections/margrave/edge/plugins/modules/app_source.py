#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say where a controller reads applications from."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: app_source
short_description: Say where a controller reads applications from
version_added: 0.1.0
description:
  - Adds, changes or removes a source of applications, and reads it.
  - A change of its place removes the source and adds it anew; deployments keep what they use.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.controller
attributes:
  check_mode:
    description: Runs without changing anything and tells what would be changed.
    support: partial
    details: What reading the source would find is not known beforehand.
  diff_mode:
    description: Tells in C(diff) how it is before and after.
    support: full
  idempotent:
    description: The same call again changes nothing.
    support: full
options:
  name:
    description: The source's name.
    type: str
    required: true
  state:
    description: Whether there is such a source.
    type: str
    choices: [present, absent]
    default: present
  repository:
    description:
      - Address of the Git repository.
      - Also a folder below the controller's C(catalog.local_roots).
    type: str
  ref:
    description: Branch, tag or commit; the repository's own branch when left out.
    type: str
  path:
    description: Folder in the repository below which applications are looked for.
    type: str
  credentials:
    description: Name of a file with credentials in the controller's state folder.
    type: str
  sync:
    description:
      - When the source is read. V(changed) is after it was added or changed.
      - With V(always) the task is changed when another commit was found.
    type: str
    choices: [changed, always, never]
    default: changed
seealso:
  - module: margrave.edge.deployment
"""

EXAMPLES = r"""
- name: Read applications from this repository
  margrave.edge.app_source:
    name: mine
    repository: https://git.example/apps.git
  delegate_to: localhost
"""

RETURN = r"""
source:
  description: The source as it stands afterwards; null when there is none.
  returned: always
  type: dict
  sample: {name: mine, url: "https://git.example/apps.git", commit: 49b2725982c5}
sync:
  description: What was read, with C(commit), C(apps) and C(findings); null when nothing was.
  returned: always
  type: dict
  sample: {commit: 49b2725982c5, apps: [{id: com-example-storefront, version: 1.0.0}], findings: []}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils._controller import (
    Controller,
    ControllerError,
    at,
    difference,
    run,
    spec,
)

PLACE = ("url", "ref", "path", "credentials")


def main() -> None:
    """Do it and answer."""
    options = {
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "repository": {"type": "str"},
        "ref": {"type": "str"},
        "path": {"type": "str"},
        "credentials": {"type": "str"},
        "sync": {"type": "str", "choices": ["changed", "always", "never"], "default": "changed"},
    }
    module = AnsibleModule(
        argument_spec=spec(**options),
        required_if=[("state", "present", ["repository"])],
        supports_check_mode=True,
    )
    run(module, lambda controller: _settled(module, controller))


def _settled(module: AnsibleModule, controller: Controller) -> dict:
    params = module.params
    path = at("app-sources", params["name"])
    found = controller.find(path)
    before = _place(found) if found else {}
    after = _wanted(params) if params["state"] == "present" else {}
    changed = before != after
    diff = difference(before, after)
    if module.check_mode:
        return {"changed": changed, "diff": diff, "source": found, "sync": None}
    if changed:
        _replace(controller, params["name"], before, after)
    synced = None
    if after and (params["sync"] == "always" or (changed and params["sync"] == "changed")):
        synced = controller.send("POST", f"{path}/sync")
        changed = changed or synced["commit"] != (found or {}).get("commit")
    return {
        "changed": changed,
        "diff": diff,
        "source": controller.get(path) if after else None,
        "sync": synced,
    }


def _replace(controller: Controller, name: str, before: dict, after: dict) -> None:
    """Remove, add, or both; when the new place is refused the old one stands again."""
    if before:
        controller.send("DELETE", at("app-sources", name))
    if not after:
        return
    try:
        controller.send("POST", at("app-sources"), {"name": name, **after})
    except ControllerError:
        if before:
            controller.send("POST", at("app-sources"), {"name": name, **before})
        raise


def _wanted(params: dict) -> dict:
    values = {**params, "url": params["repository"]}
    return {key: values[key] for key in PLACE if values[key]}


def _place(found: dict) -> dict:
    return {key: found[key] for key in PLACE if found.get(key)}


if __name__ == "__main__":
    main()
