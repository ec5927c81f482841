#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell how applications on a node stand."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: workload_info
short_description: Tell how applications on a node stand
version_added: 0.1.0
description:
  - One look at the container engine and one at the node's folders.
  - Nothing is written, no runner is asked.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.attributes.info
options:
  deployment:
    description: Only this one; all that are on the node when left out.
    type: str
"""

EXAMPLES = r"""
- name: See what runs here
  margrave.edge.workload_info:
  register: here
"""

RETURN = r"""
error:
  description: Why it failed, with C(class), C(code), C(message) and C(cure).
  returned: failure
  type: dict
fence:
  description: Which runner claimed the node, with its epoch and its last C(seq) here, or null.
  type: dict
  returned: success
workloads:
  description: One entry for each deployment.
  returned: always
  type: list
  elements: dict
  contains:
    deployment:
      description: Its id.
      type: str
      returned: always
    name:
      description: Its name.
      type: str
      returned: always
    application:
      description: The application's id.
      type: str
      returned: always
    revision:
      description: The revision that was last proven healthy and is to run, or null.
      type: str
      returned: always
    version:
      description: Its version, or null.
      type: str
      returned: always
    release:
      description: Its release, or null.
      type: str
      returned: always
    previous_revision:
      description: What a rollback would go to, or null.
      type: str
      returned: always
    next_revision:
      description: What M(margrave.edge.workload_prefetch) made ready, or null.
      type: str
      returned: always
    profile:
      description: V(compose) or V(helm).
      type: str
      returned: always
    state:
      description:
        - V(INSTALLED), V(FAILED), or what an unfinished call was doing.
        - V(PREFETCHED) where nothing was done yet but to fetch.
      type: str
      returned: always
    health:
      description: V(healthy), V(degraded) or V(unknown).
      type: str
      returned: always
    stability:
      description:
        - How its containers have fared since the call that found the release healthy.
        - Has C(seconds), since that call, or null where the machine was started later.
        - Has C(disturbances), a list of restarts, exits, OOM kills and failed health checks.
        - A disturbance has C(component), C(service), C(container), C(detail), C(restarts),
          C(exit_code), C(oom_killed), C(health), C(recent) and C(after).
        - One that is C(recent), which is within the last minute, makes the health V(degraded).
        - C(after) is the time in seconds from that call to the disturbance, where it is known.
        - What an operator, the engine or the machine restarted is none.
      type: dict
      returned: always
    drift:
      description:
        - Each way in which what runs differs.
        - Has C(component), C(service), C(what) and C(detail).
        - C(what) is V(missing), V(extra), V(stopped), V(unhealthy), V(image), V(environment),
          V(mounts), V(ports), V(limits), V(replicas) or V(changed).
        - Of containers, V(environment), V(mounts), V(ports) and V(limits) are told where
          O(deployment) is given, because each costs a request.
      type: list
      elements: dict
      returned: always
    components:
      description: How each component stands.
      type: list
      elements: dict
      returned: always
    volumes:
      description: Its named volumes.
      type: list
      elements: str
      returned: always
    journal:
      description: The notes of a call that never ended.
      type: dict
      returned: when there is one
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils import _spec
from ansible_collections.margrave.edge.plugins.module_utils._look import look


def main() -> None:
    """Look and answer."""
    module = AnsibleModule(argument_spec=_spec.of("info"), supports_check_mode=True)
    found = look(module.params)
    if "error" in found:
        module.fail_json(**found)
    module.exit_json(**found)


if __name__ == "__main__":
    main()
