# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fleet as inventory: sites and nodes as the controller knows them."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
short_description: Sites and nodes as the controller knows them
version_added: 0.1.0
author:
  - The Margrave contributors (@margrave)
description:
  - Reads the nodes from the controller's API.
  - Each node is a host C(NODE.SITE), each site a group of its name.
  - The file's name ends in C(margrave.yml) or C(margrave.yaml).
extends_documentation_fragment:
  - ansible.builtin.constructed
options:
  plugin:
    description:
      - Says that the file is for this plugin.
      - V(fleet) is its name where it is loaded without the collection.
    type: str
    required: true
    choices: [margrave.edge.fleet, fleet]
  url:
    description: The controller's address; without one no node is listed.
    type: str
    env:
      - name: MARGRAVE_URL
  token:
    description: A token that may read; the viewer's role is enough.
    type: str
    env:
      - name: MARGRAVE_TOKEN
  user:
    description: The user to work as on the nodes.
    type: str
    default: margrave
  sites:
    description: Only these sites; all when empty.
    type: list
    elements: str
    default: []
  validate_certs:
    description: Whether the controller's certificate is checked.
    type: bool
    default: true
  ca_path:
    description: File with the certificates that the controller's one is checked against.
    type: path
"""

EXAMPLES = r"""
# inventory/fleet.margrave.yml, with MARGRAVE_URL and MARGRAVE_TOKEN in the environment
plugin: margrave.edge.fleet
keyed_groups:
  - key: margrave_labels.zone
    prefix: zone
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote

from ansible.errors import AnsibleParserError
from ansible.module_utils.urls import open_url
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

ENDINGS = ("margrave.yml", "margrave.yaml")
PAGE = 200  # the most that the controller gives at once


class InventoryModule(BaseInventoryPlugin, Constructable):
    """Reads the controller's list of nodes, page by page."""

    NAME = "margrave.edge.fleet"

    def verify_file(self, path: str) -> bool:
        """Whether the file is meant for this plugin."""
        return bool(super().verify_file(path)) and path.endswith(ENDINGS)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Fill the inventory."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        if not self.get_option("url"):
            # The repository's own inventory has such a file: no controller is no mistake there.
            self.display.v(f"{path}: no url and no MARGRAVE_URL, so no node is listed")
            return
        sites = set(self.get_option("sites"))
        for node in self._nodes():
            if not sites or node["site"] in sites:
                self._add(node)

    def _add(self, node: dict[str, Any]) -> None:
        """One node: a host in the group of its site."""
        group = self.inventory.add_group(self._sanitize_group_name(node["site"]))
        host = self.inventory.add_host(f"{node['name']}.{node['site']}", group=group)
        variables = {
            "ansible_host": node["address"],
            "ansible_user": self.get_option("user"),
            "margrave_site": node["site"],
            "margrave_node": node["name"],
            "margrave_status": node.get("status"),
            "margrave_drain": node.get("drain", False),
            "margrave_labels": node.get("labels") or {},
            "margrave_capabilities": node.get("capabilities") or {},
        }
        for name, value in variables.items():
            self.inventory.set_variable(host, name, value)
        strict = self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), variables, host, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, host, strict=strict)
        self._add_host_to_keyed_groups(
            self.get_option("keyed_groups"), variables, host, strict=strict
        )

    def _nodes(self) -> Iterator[dict[str, Any]]:
        cursor = ""
        while cursor is not None:
            page = self._get(f"/api/v1/nodes?limit={PAGE}{cursor}")
            yield from page["items"]
            following = page.get("next")
            cursor = f"&cursor={quote(following, safe='')}" if following else None

    def _get(self, path: str) -> dict[str, Any]:
        url = self.get_option("url").rstrip("/") + path
        try:
            answer = open_url(
                url,
                headers={"Authorization": f"Bearer {self.get_option('token')}"},
                validate_certs=self.get_option("validate_certs"),
                ca_path=self.get_option("ca_path"),
                timeout=30,
            )
            return json.loads(answer.read())
        except HTTPError as error:
            raise AnsibleParserError(
                f"{url}: the controller answered {error.code}: {_told(error)}"
            ) from error
        except (URLError, OSError, ValueError) as error:
            raise AnsibleParserError(
                f"{url}: {error} (is the controller running, and url right?)"
            ) from error


def _told(error: HTTPError) -> str:
    """What the controller found wrong, as far as it can be read."""
    if error.code in (401, 403):
        return "the token is not valid, or may not read nodes (look at MARGRAVE_TOKEN)"
    try:
        problem = json.loads(error.read())
        return str(problem.get("detail") or problem.get("title"))
    except (OSError, ValueError, AttributeError):
        return "it gives no reason (is url that of a controller?)"
