# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell the controller what playbooks run by hand did, so that it stands in the history."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: notification
short_description: Tell the controller what playbooks run by hand did
version_added: 0.1.0
author:
  - The Margrave contributors (@margrave)
description:
  - Collects what the workload modules did on each node, and sends it when the playbook ends.
  - It then stands in the history of each deployment, with the person who ran the playbook.
  - Runs in check mode are not reported.
  - A controller that is not reached is told as a warning; the playbook's own result stays.
requirements:
  - It has to be named in C(callbacks_enabled).
options:
  url:
    description: The controller's address; without one nothing is reported.
    type: str
    env:
      - name: MARGRAVE_URL
    ini:
      - section: callback_margrave_report
        key: url
  token:
    description: A token of an operator.
    type: str
    env:
      - name: MARGRAVE_TOKEN
  user:
    description: Who runs the playbook; the user of this machine when left out.
    type: str
    env:
      - name: MARGRAVE_USER
    ini:
      - section: callback_margrave_report
        key: user
  validate_certs:
    description: Whether the controller's certificate is checked.
    type: bool
    default: true
    ini:
      - section: callback_margrave_report
        key: validate_certs
  ca_path:
    description: File with the certificates that the controller's one is checked against.
    type: path
    ini:
      - section: callback_margrave_report
        key: ca_path
  client_cert:
    description: File with the certificate to show to a controller that asks for one.
    type: path
    env:
      - name: MARGRAVE_CERT
    ini:
      - section: callback_margrave_report
        key: client_cert
  client_key:
    description: File with the key of O(client_cert), where it is not in the same file.
    type: path
    env:
      - name: MARGRAVE_KEY
    ini:
      - section: callback_margrave_report
        key: client_key
notes:
  - Site and node of a host are its variables C(margrave_site) and C(margrave_node).
  - Hosts of the inventory plugin P(margrave.edge.fleet#inventory) have them.
  - Otherwise a host C(NODE.SITE) is taken apart, and a host of one group is a node of that site.
"""

EXAMPLES = r"""
# ansible.cfg, with MARGRAVE_URL and MARGRAVE_TOKEN in the environment
# [defaults]
# callbacks_enabled = margrave.edge.report
"""

import getpass
import json
import os
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any
from urllib.error import HTTPError

from ansible.module_utils.urls import open_url
from ansible.plugins.callback import CallbackBase

KINDS = {
    f"{prefix}workload_{kind}": kind
    for prefix in ("margrave.edge.", "")
    for kind in ("install", "update", "rollback", "delete")
}
AWAY = {
    "class": "link",
    "code": "unreachable",
    "message": "the node was not reached",
    "cure": "see whether it is on, and lets this machine in",
}


class CallbackModule(CallbackBase):
    """Listens to results, and sends them at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "margrave.edge.report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._playbook = ""
        self._variables: Any = None
        self._by_site: dict[str, list[dict[str, Any]]] = {}
        self._nameless: set[str] = set()

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Remember what is run."""
        self._playbook = os.path.basename(playbook._file_name)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Remember how to ask for a host's variables."""
        self._variables = play.get_variable_manager()

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task that came through."""
        self._take(result, failed=False)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task that failed; that a play goes on all the same changes nothing about it."""
        del ignore_errors
        self._take(result, failed=True)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A node that was not reached."""
        self._take(result, failed=True, error=AWAY)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """One round of a loop."""
        self._take(result, failed=False)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """One round of a loop that failed."""
        self._take(result, failed=True)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The playbook has ended: report."""
        del stats  # counts of tasks; what was done is known one by one
        url = self.get_option("url")
        if not url:
            # A checkout enables this plugin for everybody: no controller is no mistake there.
            self._display.v("margrave.edge.report: no url and no MARGRAVE_URL: nothing is reported")
            return
        if self._nameless:
            hosts = ", ".join(sorted(self._nameless))
            words = f"no site is known of {hosts}, so what was done there is not reported"
            self._warn(f"{words} (set margrave_site and margrave_node)")
        for site, results in self._by_site.items():
            self._send(url, site, results)

    def _take(self, result: Any, failed: bool, error: Any = None) -> None:
        task, answer = result._task, result._result
        kind = KINDS.get(task.action)
        # The sum of a loop: its rounds have been taken one by one.
        if kind is None or "results" in answer or task.check_mode or answer.get("skipped"):
            return
        deployment = self._deployment(answer, result)
        site, node = self._place(result._host)
        if not site:
            self._nameless.add(result._host.get_name())
        elif deployment:
            done = "succeeded" if answer.get("changed") else "unchanged"
            entry = {
                "node": node,
                "deployment": deployment,
                "kind": kind,
                "outcome": "failed" if failed else done,
                "error": error or answer.get("error") or _words(answer, failed),
                "at": datetime.now(timezone.utc).isoformat(),
            }
            self._by_site.setdefault(site, []).append(entry)

    def _deployment(self, answer: Any, result: Any) -> str:
        """The deployment's id as the module got it; of one that never began, as the task has it."""
        asked = (answer.get("invocation") or {}).get("module_args") or result._task_fields["args"]
        found = asked.get("deployment")
        return str(found) if found else ""

    def _place(self, host: Any) -> tuple[str, str]:
        """Site and node of a host; empty when it cannot be told."""
        known = self._variables.get_vars(host=host, include_hostvars=False)
        name = host.get_name()
        if known.get("margrave_site"):
            return str(known["margrave_site"]), str(known.get("margrave_node") or name)
        node, dot, site = name.partition(".")
        if dot and "." not in site:
            return site, node
        groups = [group.name for group in host.get_groups() if group.name not in _ALWAYS]
        return (groups[0], name) if len(groups) == 1 else ("", name)

    def _send(self, url: str, site: str, results: Iterable[dict[str, Any]]) -> None:
        body = {
            "tool": "ansible-playbook",
            "user": self.get_option("user") or getpass.getuser(),
            "playbook": self._playbook,
            "results": list(results),
        }
        path = f"{url.rstrip('/')}/api/v1/sites/{site}/runs"
        try:
            answer = open_url(
                path,
                method="POST",
                data=json.dumps(body),
                headers={
                    "Authorization": f"Bearer {self.get_option('token')}",
                    "Content-Type": "application/json",
                },
                validate_certs=self.get_option("validate_certs"),
                ca_path=self.get_option("ca_path"),
                client_cert=self.get_option("client_cert"),
                client_key=self.get_option("client_key"),
                timeout=30,
            )
            unknown = json.loads(answer.read())["unknown"]
        except HTTPError as error:
            self._warn(f"{path}: not reported: {error.code} {_told(error)}")
        except (OSError, ValueError, KeyError) as error:
            self._warn(f"{path}: not reported: {error}")
        else:
            if unknown:
                self._warn(f"{site}: the controller knows no deployment {', '.join(unknown)}")

    def _warn(self, words: str) -> None:
        self._display.warning(f"margrave.edge.report: {words}")


_ALWAYS = ("all", "ungrouped")


def _words(answer: Any, failed: bool) -> dict[str, str] | None:
    """A failure of Ansible's own, before or around the module, as an error."""
    if not failed:
        return None
    message = str(answer.get("msg") or "the task failed")[:2000]
    return {"class": "internal", "code": "task", "message": message, "cure": ""}


def _told(error: HTTPError) -> str:
    try:
        problem = json.loads(error.read())
        return str(problem.get("detail") or problem.get("title"))
    except (OSError, ValueError, AttributeError):
        return "it gives no reason (is url that of a controller?)"
