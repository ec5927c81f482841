# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal: what a call is about to do, noted before it does it."""

from __future__ import annotations

import time

from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    read_json,
    write_json,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import changing, field

GOING_BACK = "goback"
DONE = "done"


@changing
class Journal:
    """One call's notes; `phase` is what was begun last, `done` when the call ended."""

    folder: Folder
    notes: dict = field(factory=dict)
    # Those of the call before this one, if there was one.
    before: dict | None = None

    @classmethod
    def stored(cls, folder: Folder) -> dict | None:
        """The notes of the last call, or None when there was none."""
        return read_json(folder.journal)

    @property
    def follows_success(self) -> bool:
        """Whether the call before this one came to its end, and without an error."""
        before = self.before or {}
        return before.get("phase") == DONE and not before.get("error")

    @classmethod
    def unfinished(cls, folder: Folder) -> dict | None:
        """The notes of a call that never ended, or None."""
        notes = cls.stored(folder)
        return notes if notes is not None and notes.get("phase") != DONE else None

    def begin(self, phase: str, **more: object) -> None:
        """Note the step that comes now.

        That something was begun is on the disk before anything changes, and so is the verdict that
        it has to be gone back from. To which step it came else, and that it ended, may be lost with
        the last seconds before a power cut: who finishes such a call goes by what is there.
        """
        at_once = not self.notes.get("phase") or phase == GOING_BACK
        self.notes.update(more, phase=phase, at=int(time.time()))
        make_folder(self.folder.path)
        write_json(self.folder.journal, self.notes, at_once)
