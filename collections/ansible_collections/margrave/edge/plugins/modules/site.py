#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say what a site is, and how it is to work."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: site
short_description: Say what a site is, and how it is to work
version_added: 0.1.0
description:
  - Adds, changes or removes a site; what it says stands in C(sites/SITE.yaml) in Git.
  - What is left out stays as it is; what is given replaces what was there, as a whole.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.controller
  - margrave.edge.controller.attributes
options:
  name:
    description: The site's name.
    type: str
    required: true
  state:
    description: Whether there is such a site. One with deployments is not removed.
    type: str
    choices: [present, absent]
    default: present
  labels:
    description: What selectors choose the site by.
    type: dict
  timezone:
    description: The zone of windows that name none, such as V(Europe/Oslo).
    type: str
  windows:
    description: When work may start. Each has C(cron), C(duration) and, optional, C(timezone).
    type: list
    elements: dict
  policy:
    description: How far packages may reach into the nodes.
    type: dict
  defaults:
    description: What holds where a deployment is silent, such as C(failure) or C(strategy).
    type: dict
  drain:
    description: Whether deployments are taken off the whole site.
    type: bool
  paused:
    description: Whether nothing new may start at the site.
    type: bool
  pause_reason:
    description: Why it is paused.
    type: str
    default: paused
  pause_until:
    description: When it goes on by itself, as RFC 3339 time; never when left out.
    type: str
seealso:
  - module: margrave.edge.node
  - module: margrave.edge.deployment
"""

EXAMPLES = r"""
- name: Have a site that works at night
  margrave.edge.site:
    name: harbor
    labels: {country: "no"}
    timezone: Europe/Oslo
    windows:
      - {cron: "0 2 * * 1-5", duration: 2h}
  delegate_to: localhost
  no_log: true  # the answer of the first time holds the token of the site's runner
"""

RETURN = r"""
site:
  description: The site as it stands afterwards; null when there is none.
  returned: always
  type: dict
  sample: {name: harbor, labels: {country: "no"}, timezone: Europe/Oslo, nodes: [harbor-1]}
token:
  description: The token of the site's runner, told this once.
  returned: when the site was added
  type: str
  sample: mgs_0123456789abcdef
commit:
  description: The commit that changed a site that was there; null when none had to.
  returned: always
  type: str
  sample: 49b2725982c5e0c6e2f3dbfa8c81f5a82f407087
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils._controller import (
    Controller,
    at,
    difference,
    run,
    spec,
)

OWN = ("labels", "timezone", "windows", "policy", "defaults")


def main() -> None:
    """Do it and answer."""
    options = {
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "labels": {"type": "dict"},
        "timezone": {"type": "str"},
        "windows": {"type": "list", "elements": "dict"},
        "policy": {"type": "dict"},
        "defaults": {"type": "dict"},
        "drain": {"type": "bool"},
        "paused": {"type": "bool"},
        "pause_reason": {"type": "str", "default": "paused"},
        "pause_until": {"type": "str"},
    }
    module = AnsibleModule(argument_spec=spec(**options), supports_check_mode=True)
    run(module, lambda controller: _settled(module, controller))


def _settled(module: AnsibleModule, controller: Controller) -> dict:
    params = module.params
    path = at("sites", params["name"])
    found = controller.find(path)
    before = _state(found)
    after = _wanted(params, before) if params["state"] == "present" else {}
    told = {
        "changed": before != after,
        "diff": difference(before, after),
        "site": found,
        "commit": None,
    }
    if module.check_mode or before == after:
        return told
    if not after:
        controller.send("DELETE", path)
        return {**told, "site": None}
    if not before:
        own = {key: after[key] for key in (*OWN, "drain") if after.get(key)}
        made = controller.send("POST", at("sites"), {"name": params["name"], **own})
        told["token"], before = made["token"], {**after, "paused": None}
    told["commit"] = _change(controller, path, before, after)
    return {**told, "site": controller.get(path)}


def _state(found: dict | None) -> dict:
    """What this module can change, of a site; empty when there is none."""
    if found is None:
        return {}
    document = found["document"]
    state = {key: document[key] for key in OWN if document.get(key)}
    pause = document.get("paused")
    paused = {key: pause[key] for key in ("reason", "until") if pause.get(key)} if pause else None
    return {"name": found["name"], **state, "drain": bool(document.get("drain")), "paused": paused}


def _wanted(params: dict, before: dict) -> dict:
    after = {"name": params["name"], "drain": False, "paused": None, **before}
    for key in OWN:
        if params[key]:
            after[key] = _text(params[key]) if key == "labels" else params[key]
        elif params[key] is not None:
            after.pop(key, None)
    if params["drain"] is not None:
        after["drain"] = params["drain"]
    if params["paused"] is not None:
        until = {"until": params["pause_until"]} if params["pause_until"] else {}
        after["paused"] = {"reason": params["pause_reason"], **until} if params["paused"] else None
    return after


def _text(labels: dict) -> dict:
    """Labels are text; YAML makes numbers and truth values of some."""
    return {key: str(value) for key, value in labels.items()}


def _change(controller: Controller, path: str, before: dict, after: dict) -> str | None:
    """Bring the site's document there; the last commit that did something."""
    commits = []
    patch = {key: _patch(before.get(key), after.get(key)) for key in OWN}
    patch = {key: value for key, value in patch.items() if before.get(key) != after.get(key)}
    if before["drain"] != after["drain"]:
        patch["drain"] = after["drain"] or None
    if patch:
        commits.append(controller.send("PATCH", path, patch)["commit"])
    if before["paused"] != after["paused"]:
        verb = "pause" if after["paused"] else "resume"
        commits.append(controller.send("POST", f"{path}/{verb}", after["paused"])["commit"])
    return next((one for one in reversed(commits) if one), None)


def _patch(before: object, after: object) -> object:
    """A merge patch that leaves exactly `after`: keys that are to go are set to null."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    gone = {key: None for key in before if key not in after}
    return {**{key: _patch(before.get(key), value) for key, value in after.items()}, **gone}


if __name__ == "__main__":
    main()
