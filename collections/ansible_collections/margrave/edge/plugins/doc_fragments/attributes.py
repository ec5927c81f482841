# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What modules promise, in one place."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes of modules that change a node."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Runs without changing anything and tells what would be changed.
    support: full
  diff_mode:
    description: Tells in C(diff) which release ran before and which runs after.
    support: full
  idempotent:
    description: The same call again changes nothing.
    support: full
"""

    ACTION = r"""
options: {}
attributes:
  action:
    description: Has an action of its own, which is called on the controlling machine.
    support: full
    details:
      - With pipelining, and an interpreter that is named or was found before, the collection's code
        is laid into the node's C(/run) once per boot, and the call is one command.
      - Otherwise the module travels with the call; its answer is the same.
  async:
    description: Can be run with C(async).
    support: full
"""

    INFO = r"""
options: {}
attributes:
  check_mode:
    description: Never changes anything.
    support: full
  diff_mode:
    description: There is nothing to differ.
    support: N/A
  idempotent:
    description: Never changes anything.
    support: full
"""
