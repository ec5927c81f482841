#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drain a node, use it again, or unregister it."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node
short_description: Drain a node, use it again, or unregister it
version_added: 0.1.0
description:
  - Says in Git whether a node is drained, or has its site's runner forget it.
  - A node is added on its site with C(margrave node add), for only the runner reaches it.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.controller
  - margrave.edge.controller.attributes
options:
  site:
    description: The node's site.
    type: str
    required: true
  name:
    description: The node's name.
    type: str
    required: true
  state:
    description:
      - With V(present) it is a mistake when the site has no such node.
      - With V(absent) the site's runner is told to forget it.
    type: str
    choices: [present, absent]
    default: present
  drain:
    description: Whether deployments are taken off the node; as it is when left out.
    type: bool
  forget:
    description: Unregister it even though deployments stand on it, for a machine that is gone.
    type: bool
    default: false
  wait:
    description: Whether to wait until nothing stands on a drained node.
    type: bool
    default: false
  wait_timeout:
    description: Seconds to wait at most.
    type: int
    default: 300
seealso:
  - module: margrave.edge.site
  - module: margrave.edge.node_info
"""

EXAMPLES = r"""
- name: Take everything off a node before it is repaired
  margrave.edge.node:
    site: harbor
    name: harbor-1
    drain: true
    wait: true
  delegate_to: localhost
"""

RETURN = r"""
node:
  description: The node as it stands afterwards; null when there is none.
  returned: always
  type: dict
  sample: {site: harbor, name: harbor-1, status: active, drain: true}
deployments:
  description: Names of the deployments that still stand on the node.
  returned: when it is present
  type: list
  elements: str
  sample: []
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
from ansible_collections.margrave.edge.plugins.module_utils._controller_wait import until


def main() -> None:
    """Do it and answer."""
    options = {
        "site": {"type": "str", "required": True},
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "drain": {"type": "bool"},
        "forget": {"type": "bool", "default": False},
        "wait": {"type": "bool", "default": False},
        "wait_timeout": {"type": "int", "default": 300},
    }
    module = AnsibleModule(argument_spec=spec(**options), supports_check_mode=True)
    run(module, lambda controller: _settled(module, controller))


def _settled(module: AnsibleModule, controller: Controller) -> dict:
    params = module.params
    controller.get(at("sites", params["site"]))  # an unknown site is told as such
    path = at("sites", params["site"], "nodes", params["name"])
    found = controller.find(path)
    if params["state"] == "absent":
        return _gone(module, controller, path, found)
    if found is None:
        raise ControllerError(
            f"{params['site']} has no node {params['name']}",
            "on the machine of its runner: margrave node add",
        )
    before = found["drain"]
    drain = before if params["drain"] is None else params["drain"]
    changed = drain != before
    if changed and not module.check_mode:
        found = controller.send("POST", f"{path}/{'drain' if drain else 'undrain'}")
    if drain and params["wait"] and not module.check_mode:
        _emptied(controller, params)
    return {
        "changed": changed,
        "diff": difference({"drain": before}, {"drain": drain}),
        "node": found,
        "deployments": _on(controller, params),
    }


def _gone(module: AnsibleModule, controller: Controller, path: str, found: dict | None) -> dict:
    if found is not None and not module.check_mode:
        controller.send("DELETE", path + ("?forget=true" if module.params["forget"] else ""))
    before = {"name": found["name"]} if found else {}
    node = found if module.check_mode else None
    return {"changed": found is not None, "diff": difference(before, {}), "node": node}


def _emptied(controller: Controller, params: dict) -> None:
    standing: list = []

    def empty() -> bool:
        standing[:] = _on(controller, params)
        return not standing

    def what() -> str:
        return f"{params['name']} to be empty, where {', '.join(standing)} stands"

    until(empty, params["wait_timeout"], what)


def _on(controller: Controller, params: dict) -> list:
    """Names of the deployments that stand on the node."""
    names = {
        one["name"]
        for one in controller.items(at("deployments"), site=params["site"])
        for placement in controller.items(at("deployments", one["id"], "placements"))
        if placement["node"] == params["name"] and placement["state"] != "DELETED"
    }
    return sorted(names)


if __name__ == "__main__":
    main()
