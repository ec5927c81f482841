#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring an application on a node to another revision."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: workload_update
short_description: Bring an application on a node to another revision
version_added: 0.1.0
description:
  - Fetches everything while the old revision serves, then switches and proves health.
  - When the new revision does not become healthy, the old one is made to run again within the
    same call; the call fails, and RV(rolled_back) says so.
  - Containers of services that are the same in both revisions are left alone, volumes always.
  - With the revision that runs already it mends what differs from it.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.attributes
  - margrave.edge.attributes.action
  - margrave.edge.workload
  - margrave.edge.workload.content
  - margrave.edge.workload.guard
seealso:
  - module: margrave.edge.workload_install
  - module: margrave.edge.workload_rollback
"""

EXAMPLES = r"""
- name: Update to storefront 1.1.0
  margrave.edge.workload_update:
    deployment: 3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f
    name: storefront
    application: com-example-storefront
    version: 1.1.0
    components:
      - name: storefront
        src: "{{ playbook_dir }}/../examples/apps/storefront/1.1.0/compose"
        variables:
          GREETING: hello
        timeout: 15
"""

RETURN = r"""
state:
  description: V(INSTALLED), V(PREFETCHED), V(DELETED) or V(FAILED).
  returned: always
  type: str
  sample: INSTALLED
revision:
  description: The revision that really runs afterwards, or null.
  returned: always
  type: str
  sample: sha256:5886b780446935c6db8ff1c77d264563ff1a5c88366493ac26b988017e0681de
version:
  description: The version that really runs afterwards, or null.
  returned: always
  type: str
  sample: 1.1.0
release:
  description: The release that really runs afterwards, or null.
  returned: always
  type: str
  sample: 49b2725982c5e0c6e2f3dbfa8c81f5a82f40708777065952e29da51731510bfb
previous_revision:
  description: The revision that ran healthy before, or null.
  returned: always
  type: str
  sample: sha256:49b2725982c5e0c6e2f3dbfa8c81f5a82f40708777065952e29da51731510bfb
next_revision:
  description: The revision that was made ready and does not run yet, or null.
  returned: always
  type: str
  sample: null
rolled_back:
  description: Whether this call failed and went back to what ran before.
  returned: always
  type: bool
  sample: false
phase:
  description: The last phase that began; V(done) after all of them.
  returned: always
  type: str
  sample: done
components:
  description: How each component stands.
  returned: always
  type: list
  elements: dict
  sample: [{name: storefront, state: INSTALLED, error: null}]
health:
  description: V(healthy), V(degraded) or V(unknown).
  returned: always
  type: str
  sample: healthy
images:
  description: Images of what runs; of a deletion, the images that were removed.
  returned: always
  type: list
  elements: str
  sample: ["registry.example.com/storefront-web@sha256:5886b780446935c6db8f"]
volumes_kept:
  description: Volumes that a deletion left.
  returned: always
  type: list
  elements: str
  sample: []
durations:
  description: Seconds that each step took.
  returned: always
  type: dict
  sample: {prefetch: 0.1, switch: 0.9, health: 0.4}
trace:
  description: The O(trace) that the call was made with, or null.
  returned: always
  type: str
  sample: 0b8f6f0e-6a0e-4a52-9d55-6b6b9c9f7a11
warnings:
  description: What an operator should know of a call that went well, or an empty list.
  returned: always
  type: list
  elements: str
  sample: []
error:
  description: Why it failed, with C(class), C(code), C(message) and C(cure); null when it did not.
  returned: always
  type: dict
  sample:
    class: health
    code: not-healthy
    message: web is unhealthy
    cure: "look at the container's log on the node"
"""

from ansible_collections.margrave.edge.plugins.module_utils._apply import apply
from ansible_collections.margrave.edge.plugins.module_utils._module import run


def main() -> None:
    """Do it and answer."""
    run("update", apply)


if __name__ == "__main__":
    main()
