#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Have an application run at sites, through their controller."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: deployment
short_description: Have an application run at sites, through their controller
version_added: 0.1.0
description:
  - Creates the deployment where a site lacks it, and updates it where it is.
  - The controller writes it to Git, and the runners of the sites bring it about.
  - The task ends when it stands in Git, or with O(wait=true) when it has come about.
  - Whether anything changes is asked of the controller's plan, so check mode tells the truth.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.controller
  - margrave.edge.controller.attributes
options:
  name:
    description: The deployment's name; O(app) when left out.
    type: str
  state:
    description: Whether it is at the sites that are meant.
    type: str
    choices: [present, absent]
    default: present
  app:
    description: Id of the application; needed unless it is to go.
    type: str
  version:
    description:
      - The application's version.
      - When it is left out a new deployment gets the newest, and one that is there keeps its own.
    type: str
  profile:
    description: Id of the deployment profile, where the application has several.
    type: str
  sites:
    description: The sites that are meant.
    type: list
    elements: str
  site_labels:
    description: All sites that have these labels.
    type: dict
  nodes:
    description: Nodes, written C(SITE/NODE), instead of sites; it stands on these alone.
    type: list
    elements: str
  parameters:
    description: Values by name. A null is the default again; what is not named stays.
    type: dict
  reset_parameters:
    description: Whether parameters that are not named go back to their defaults.
    type: bool
    default: false
  placement:
    description: How many nodes, or which, with C(nodes), C(selector) and C(move).
    type: dict
  strategy:
    description: How an update goes over the nodes, with C(update) and C(batch).
    type: dict
  failure:
    description: What follows a failure, with C(retries), C(backoff) and C(then).
    type: dict
  health:
    description: When it counts as healthy, with C(timeout) and C(grace).
    type: dict
  drift:
    description: What is done about a change made on a node.
    type: str
    choices: [heal, report, ignore]
  windows:
    description: When work may start. Each has C(cron), C(duration) and, optional, C(timezone).
    type: list
    elements: dict
  requires:
    description: Names of deployments that have to be healthy at the site first.
    type: list
    elements: str
  priority:
    description: Whose turn it is. With V(urgent), which needs O(reason), windows do not hold.
    type: str
    choices: [urgent, normal, bulk]
  reason:
    description: Why.
    type: str
  wait:
    description:
      - Whether to wait until it runs healthy everywhere, or is gone everywhere.
      - It is a failure when it does not, also when this task had nothing to change.
    type: bool
    default: false
  wait_timeout:
    description: Seconds to wait at most.
    type: int
    default: 600
seealso:
  - module: margrave.edge.app_source
  - module: margrave.edge.site
  - module: margrave.edge.workload_install
    description: The same on a node of its own, without a controller.
"""

EXAMPLES = r"""
- name: Run storefront 1.1.0 in all of Norway
  margrave.edge.deployment:
    app: com-example-storefront
    version: 1.1.0
    site_labels: {country: "no"}
    parameters:
      greeting: god kveld
    strategy: {batch: canary}
    wait: true
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
deployments:
  description: One for each site; with C(placements) after waiting.
  returned: when not in check mode
  type: list
  elements: dict
  sample: [{name: storefront, site: harbor, version: 1.1.0, state: INSTALLED}]
requests:
  description: Ids of the requests that were made.
  returned: always
  type: list
  elements: str
  sample: [8a0e2c64-1f5b-4a57-9b53-3d1a34c1f9b0]
plan:
  description: What would happen, or happens, at each site and on each of its nodes, and why.
  returned: always
  type: list
  elements: dict
  sample: [{site: harbor, action: install, why: it is not there yet, nodes: []}]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils import _controller_deploy as deploy
from ansible_collections.margrave.edge.plugins.module_utils._controller import (
    Controller,
    at,
    difference,
    run,
    spec,
)

SHOWN = ("version", "profile", "parameters")


def _options() -> dict:
    texts = ("name", "app", "version", "profile", "reason")
    return {
        **{name: {"type": "str"} for name in texts},
        **{
            name: {"type": "dict"}
            for name in ("site_labels", "parameters", "placement", "strategy", "failure", "health")
        },
        **{name: {"type": "list", "elements": "str"} for name in ("sites", "nodes", "requires")},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "windows": {"type": "list", "elements": "dict"},
        "drift": {"type": "str", "choices": ["heal", "report", "ignore"]},
        "priority": {"type": "str", "choices": ["urgent", "normal", "bulk"]},
        "reset_parameters": {"type": "bool", "default": False},
        "wait": {"type": "bool", "default": False},
        "wait_timeout": {"type": "int", "default": 600},
    }


def main() -> None:
    """Do it and answer."""
    module = AnsibleModule(
        argument_spec=spec(**_options()),
        required_if=[
            ("state", "present", ["app"]),
            ("state", "absent", ["name", "app"], True),
            ("priority", "urgent", ["reason"]),
        ],
        required_one_of=[("sites", "site_labels", "nodes")],
        mutually_exclusive=[("sites", "site_labels", "nodes")],
        supports_check_mode=True,
    )
    if module.params["state"] == "absent" and module.params["nodes"]:
        module.fail_json(msg="nodes: a deployment leaves sites as a whole (give sites instead)")
    module.params["name"] = module.params["name"] or module.params["app"]
    run(module, lambda controller: _settled(module, controller))


def _settled(module: AnsibleModule, controller: Controller) -> dict:
    params, timeout = module.params, module.params["wait_timeout"]
    sites = deploy.targets(controller, params)
    there = deploy.standing(controller, params["name"], sites, timeout)
    going = params["state"] == "absent"
    steps = deploy.removal(there) if going else deploy.wanted(params, sites, there)
    plan = deploy.planned(controller, steps)
    told = {
        "changed": bool(steps),
        "diff": _diff(there, plan, params),
        "plan": plan,
        "requests": [],
    }
    if module.check_mode:
        return told
    deploy.send(controller, steps, timeout)
    told["requests"] = [step.answer["id"] for step in steps]
    if params["wait"]:
        ends = deploy.follow(controller, steps, there, timeout, going)
    else:
        known = {one["id"] for one in there.values()} | {i for step in steps for i in step.ids}
        ends = [controller.get(at("deployments", ident)) for ident in sorted(known)]
    return {**told, "deployments": ends}


def _diff(there: dict, plan: list, params: dict) -> dict:
    """Before and after of each site that changes, with the plan's reason."""
    before, after = {}, {}
    for one in plan:
        if not one["changes"]:
            continue
        site, old = one["site"], there.get(one["site"])
        if old:
            before[site] = {key: old[key] for key in SHOWN}
        if params["state"] == "present":
            after[site] = {**_after(old or {}, params), "why": one["why"]}
    return difference(before, after)


def _after(old: dict, params: dict) -> dict:
    values = {} if params["reset_parameters"] else dict(old.get("parameters") or {})
    values.update(params["parameters"] or {})
    kept = {key: params[key] or old.get(key) for key in ("version", "profile")}
    return {**kept, "parameters": {name: one for name, one in values.items() if one is not None}}


if __name__ == "__main__":
    main()
