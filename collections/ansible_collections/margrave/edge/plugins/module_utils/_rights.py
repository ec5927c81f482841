# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rights that a call needs on its node."""

from __future__ import annotations

import os

from ansible_collections.margrave.edge.plugins.module_utils._errors import AuthError


def require_root() -> None:
    """Raise AuthError unless this process is root's.

    The engine's socket, the state folder and the locks belong to root. Without this check each of
    them would fail in its own words.
    """
    user = os.geteuid()
    if user != 0:
        raise AuthError(
            "not-root",
            f"this call runs as user {_name(user)}, and margrave.edge needs root on the node",
            "set become: true on the task, the play or the host",
        )


def _name(user: int) -> str:
    """Return a user's name, or the number where the node knows no name for it."""
    import pwd  # only a call that fails needs it

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
