# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parameters and promises that the modules which speak with a controller share."""

from __future__ import annotations


class ModuleDocFragment:
    """Where the controller is, who asks, and how long an answer may take."""

    DOCUMENTATION = r"""
options:
  url:
    description:
      - The controller's address.
      - The environment variable E(MARGRAVE_URL) is used when it is left out.
    type: str
    required: true
  token:
    description:
      - A token that may do what is asked.
      - The environment variable E(MARGRAVE_TOKEN) is used when it is left out.
    type: str
    required: true
  validate_certs:
    description: Whether the controller's certificate is checked.
    type: bool
    default: true
  ca_path:
    description: File with the certificates that the controller's one is checked against.
    type: path
  client_cert:
    description:
      - File with the certificate to show to a controller that asks for one.
      - The environment variable E(MARGRAVE_CERT) is used when it is left out.
    type: path
  client_key:
    description:
      - File with the key of O(client_cert), where it is not in the same file.
      - The environment variable E(MARGRAVE_KEY) is used when it is left out.
    type: path
  timeout:
    description: Seconds that one answer of the controller may take.
    type: int
    default: 30
notes:
  - Runs where the controller can be reached, so usually on C(localhost).
  - All modules of this kind are in the action group C(margrave.edge.controller).
    O(url) and O(token) can be set for them at once by C(module_defaults).
"""

    ATTRIBUTES = r"""
options: {}
attributes:
  check_mode:
    description: Runs without changing anything and tells what would be changed.
    support: full
  diff_mode:
    description: Tells in C(diff) how it is before and after.
    support: full
  idempotent:
    description: The same call again changes nothing.
    support: full
"""
