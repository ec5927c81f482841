#!/usr/bin/python
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell what a node is and whether it can take applications."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_info
short_description: Tell what a node is and whether it can take applications
version_added: 0.1.0
description:
  - Capabilities as placement reads them, and checks with a cure for each that fails.
author:
  - The Margrave contributors (@margrave)
extends_documentation_fragment:
  - margrave.edge.attributes.info
options: {}
"""

EXAMPLES = r"""
- name: See what this node can do
  margrave.edge.node_info:
  register: node
"""

RETURN = r"""
capabilities:
  description: What the node has; memory and storage in bytes.
  returned: success
  type: dict
  sample:
    architecture: amd64
    cpus: 2
    memory: 8589934592
    storage: 107374182400
    os: Debian GNU/Linux 13 (trixie)
    kernel: 6.12.0
    python: 3.13.5
    engines: [{name: podman, version: 5.4.2, compose: 2.26.1}]
    deployment_types: [compose]
checks:
  description: Each with C(name), C(ok), C(detail) and C(cure).
  returned: success
  type: list
  elements: dict
  sample: [{name: engine, ok: true, detail: podman 5.4.2, cure: ""}]
error:
  description: Why it failed, with C(class), C(code), C(message) and C(cure).
  returned: failure
  type: dict
  sample: {class: auth, code: not-root, message: "…", cure: "set become: true on the task"}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils._errors import EdgeError, sentence
from ansible_collections.margrave.edge.plugins.module_utils._facts import gather
from ansible_collections.margrave.edge.plugins.module_utils._rights import require_root


def main() -> None:
    """Look and answer."""
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    try:
        require_root()
    except EdgeError as error:
        fields = error.as_dict()
        module.fail_json(msg=sentence(fields), error=fields)
    module.exit_json(changed=False, **gather())


if __name__ == "__main__":
    main()
