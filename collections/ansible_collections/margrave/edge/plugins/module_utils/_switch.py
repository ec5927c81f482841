# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a release run and prove its health: what install, update, heal and going back all do."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import translated
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._types import Any


def make_run(call: Call, release: Release, before: Iterable[Any]) -> None:
    """Bring every component of the release up, in order, each healthy before the next begins.

    `before` is what was there, closely looked at.
    """
    with call.result.timed("switch"):
        call.driver.end_others(release, before)
    for part in release.parts:
        try:
            call.driver.run(release, part, before)
        except Exception as found:  # noqa: BLE001 - whatever it is, what ran before has to come back
            error = translated(found)
            call.result.component(part.name, "FAILED", call.told(error))
            raise error from None
        call.result.component(part.name, "INSTALLED")
