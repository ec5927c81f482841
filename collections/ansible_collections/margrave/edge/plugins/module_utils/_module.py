# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A workload module as Ansible carries it to a node, whole, for one call.

Where the collection's code lies on the node already, `_direct` does the same without this.
"""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.margrave.edge.plugins.module_utils import _shell, _spec
from ansible_collections.margrave.edge.plugins.module_utils._shell import Work


class Module(AnsibleModule):
    """A module whose parameters hold secrets' values: the node's system log gets none of them."""

    def _log_invocation(self) -> None:
        """Say which deployment and request it is about, where Ansible would say everything."""
        self.log(_shell.log_entry(self.params))

    def exit_json(self, **answer: Any) -> None:
        """Answer without the parameters, which Ansible would repeat all."""
        super().exit_json(**{"invocation": _shell.invocation(self.params), **answer})

    def fail_json(self, msg: str, **answer: Any) -> None:
        """The same of a failure: Ansible itself calls this for parameters that it refuses."""
        told = {"invocation": _shell.invocation(self.params), **answer}
        super().fail_json(_shell.failure(msg, self.params), **told)


def run(kind: str, work: Work) -> None:
    """Do one operation and answer."""
    module = Module(argument_spec=_spec.of(kind), supports_check_mode=True)
    answer = _shell.answer(kind, module.params, module.check_mode, module._diff, work)
    # Given as part of the answer, Ansible would call them deprecated.
    for warning in answer.pop("warnings", []):
        module.warn(warning)
    if answer.pop("failed", False):
        module.fail_json(**answer)
    module.exit_json(**answer)
