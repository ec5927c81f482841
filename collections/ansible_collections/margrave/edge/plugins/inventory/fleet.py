# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fleet as inventory: sites and nodes as the controller, or a site's runner, knows them."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fleet
short_description: Sites and nodes as the controller or a runner knows them
version_added: 0.1.0
author:
  - The Margrave contributors (@margrave)
description:
  - Reads the nodes from the controller's API, or from one site's runner.
  - Each node is a host C(NODE.SITE), each site a group of its name.
  - Site, labels, status, drain and capabilities of a node are variables C(margrave_…) of its host.
  - Labels, time zone, pause and lock of a site are variables of its group.
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
  source:
    description:
      - Who is asked. V(controller) knows all sites, V(runner) its own one.
      - A runner is there when the way to the controller is cut.
    type: str
    choices: [controller, runner]
    default: controller
  socket:
    description:
      - The runner's socket, C(runner.sock) in its state folder, instead of O(url) and O(token).
      - For O(source=runner) on the runner's machine, as a user who may open it.
    type: path
  url:
    description:
      - The address of the controller, or of the runner.
      - Without one, and without O(socket), O(missing_url) decides.
    type: str
    env:
      - name: MARGRAVE_URL
  missing_url:
    description:
      - What happens without O(url) and O(socket).
      - V(error) makes this source one that cannot be parsed; Ansible reports that, and ends if
        C(unparsed_is_failed) or C(any_unparsed_is_failed) is set.
      - V(warning) lists no node, for a file that is shared with people who have no controller.
    type: str
    choices: [error, warning]
    default: error
  token:
    description: A token that may read; the viewer's role is enough. Of a runner its C(http.token).
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
  client_cert:
    description: File with the certificate to show to a controller or runner that asks for one.
    type: path
    env:
      - name: MARGRAVE_CERT
  client_key:
    description: File with the key of O(client_cert), where it is not in the same file.
    type: path
    env:
      - name: MARGRAVE_KEY
"""

EXAMPLES = r"""
# inventory/fleet.margrave.yml, with MARGRAVE_URL and MARGRAVE_TOKEN in the environment
plugin: margrave.edge.fleet
keyed_groups:
  - key: margrave_labels.zone
    prefix: zone
---
# harbor.margrave.yml, on the machine of the site's runner
plugin: margrave.edge.fleet
source: runner
socket: /var/lib/margrave-runner/state/runner.sock
"""

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
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
        if not (self.get_option("url") or self.get_option("socket")):
            self._report_missing_url(path)
            return
        chosen = set(self.get_option("sites"))
        sites, nodes = self._of_runner() if self._from_runner else self._of_controller()
        for site in sites:
            if not chosen or site["name"] in chosen:
                self._add_site(site)
        for node in nodes:
            if not chosen or node["site"] in chosen:
                self._add(node)

    def _report_missing_url(self, path: str) -> None:
        """Fail, or warn where the file asks for that: an empty fleet would look like success."""
        problem = (
            "no url, so no node is listed (set url in the file or MARGRAVE_URL and MARGRAVE_TOKEN"
            " in the environment, or leave the file out of the inventory)"
        )
        if self.get_option("missing_url") == "error":
            raise AnsibleParserError(problem)
        self.display.warning(f"{path}: {problem}")

    @property
    def _from_runner(self) -> bool:
        if self.get_option("socket") and self.get_option("source") != "runner":
            raise AnsibleParserError("socket: is that of a runner (say source: runner)")
        return bool(self.get_option("source") == "runner")

    def _of_controller(self) -> tuple[Iterator[dict[str, Any]], Iterator[dict[str, Any]]]:
        return self._items("/api/v1/sites"), self._items("/api/v1/nodes")

    def _of_runner(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        told = self._get("/status")
        try:
            site = told["site"]
            return [site], [{**node, "site": site["name"]} for node in told["nodes"]]
        except (KeyError, TypeError) as error:
            raise AnsibleParserError(
                f"{self._place}: this is no runner's status (is it the address of a runner?)"
            ) from error

    def _add_site(self, site: dict[str, Any]) -> None:
        """One site: a group with what holds for all of it."""
        group = self.inventory.add_group(self._sanitize_group_name(site["name"]))
        for name, value in {
            "margrave_site": site["name"],
            "margrave_site_labels": site.get("labels") or {},
            "margrave_site_timezone": site.get("timezone"),
            "margrave_site_paused": site.get("paused"),
            "margrave_site_locked": site.get("locked"),
        }.items():
            self.inventory.set_variable(group, name, value)

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

    def _items(self, path: str) -> Iterator[dict[str, Any]]:
        cursor = ""
        while cursor is not None:
            page = self._get(f"{path}?limit={PAGE}{cursor}")
            yield from page["items"]
            following = page.get("next")
            cursor = f"&cursor={quote(following, safe='')}" if following else None

    @property
    def _place(self) -> str:
        return str(self.get_option("socket") or self.get_option("url").rstrip("/"))

    def _get(self, path: str) -> dict[str, Any]:
        place = self._place
        try:
            if self.get_option("socket"):
                return json.loads(_through(place, path))
            return json.loads(self._fetched(place + path))
        except HTTPError as error:
            raise AnsibleParserError(
                f"{place}{path}: the {self.get_option('source')} answered"
                f" {error.code}: {_told(error)}"
            ) from error
        except (URLError, OSError, HTTPException, ValueError) as error:
            raise AnsibleParserError(
                f"{place}: {error} (is the {self.get_option('source')} running there?)"
            ) from error

    def _fetched(self, url: str) -> bytes:
        token = self.get_option("token")
        answer = open_url(
            url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            validate_certs=self.get_option("validate_certs"),
            ca_path=self.get_option("ca_path"),
            client_cert=self.get_option("client_cert"),
            client_key=self.get_option("client_key"),
            timeout=30,
        )
        return bytes(answer.read())


class _Unix(HTTPConnection):
    """HTTP through a UNIX socket."""

    def connect(self) -> None:
        """Open it."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.host)


def _through(place: str, path: str) -> bytes:
    connection = _Unix(place, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": "runner"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(f"{path} answered {answer.status}")
        return answer.read()
    finally:
        connection.close()


def _told(error: HTTPError) -> str:
    """What the controller found wrong, as far as it can be read."""
    if error.code in (401, 403):
        return "the token is not valid, or may not read nodes (look at MARGRAVE_TOKEN)"
    try:
        problem = json.loads(error.read())
        return str(problem.get("detail") or problem.get("title"))
    except (OSError, ValueError, AttributeError):
        return "it gives no reason (is url that of a controller?)"
