# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One call at work: its request, the node's folders, the driver, the lock, what it sees."""

from __future__ import annotations

import time
from functools import cached_property

from ansible_collections.margrave.edge.plugins.module_utils import _driver, _masking, _release
from ansible_collections.margrave.edge.plugins.module_utils._driver import Driver
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConflictError,
    EdgeError,
    LinkError,
)
from ansible_collections.margrave.edge.plugins.module_utils._journal import Journal
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder, Layout
from ansible_collections.margrave.edge.plugins.module_utils._lock import Lock
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs
from ansible_collections.margrave.edge.plugins.module_utils._record import (
    changing,
    field,
    record,
    replace,
)
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Request
from ansible_collections.margrave.edge.plugins.module_utils._result import Result
from ansible_collections.margrave.edge.plugins.module_utils._types import Any


@record
class Observation:
    """How the deployment stands on the node, before anything is done."""

    current: Release | None
    previous: Release | None
    following: Release | None
    unfinished: dict | None
    seen: list[Any]


@changing
class Call:
    """Everything that a step needs."""

    request: Request
    kind: str
    layout: Layout
    check: bool
    lock: Lock | None = None
    result: Result = field(factory=Result)
    # Off while going back, committing or deleting: these end sooner than anybody could take over.
    stoppable: bool = True
    # How what runs differs from its release before anything is done, in sentences.
    differs: list[str] = field(factory=list)
    began: float = field(factory=time.monotonic)

    @cached_property
    def folder(self) -> Folder:
        """The deployment's folder."""
        return self.layout.deployment(self.request.deployment)

    @cached_property
    def programs(self) -> Programs:
        """Programs under this call's lock."""
        return Programs(self.lock, self.safe_point, self.masked, self.result.warn)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """The call's own, and those of the releases that are here: it may go back to one."""
        kept = _release.secrets(self.folder)
        return _masking.ordered([*self.request.secrets, *kept])

    def masked(self, text: str) -> str:
        """Words of others without secrets."""
        return _masking.masked(text, self._secrets) if text else text

    def told(self, error: EdgeError) -> dict[str, str]:
        """An error as it is stored and answered; what it is made of may quote a secret."""
        told = error.as_dict()
        return {**told, "message": self.masked(told["message"]), "cure": self.masked(told["cure"])}

    def project(self, component: str) -> str:
        """A component's name on the node: the one it has for as long as it is here."""
        folder = self.folder
        for name in (folder.linked("current"), *folder.kept()):
            release = _release.load(folder, name)
            for part in release.parts if release else ():
                if part.name == component:
                    return part.project
        return self.request.project(component)

    @cached_property
    def driver(self) -> Driver:
        """What runs the deployment's profile: the one that is asked for, else the one that runs."""
        return _driver.of(self, self.request.profile or self.stored_profile() or "compose")

    def stored_profile(self) -> str | None:
        """The profile of what was installed here, or None when nothing was."""
        for name in (self.folder.linked("current"), *self.folder.kept()):
            found = _release.load(self.folder, name)
            if found is not None:
                return found.profile
        return None

    @cached_property
    def journal(self) -> Journal:
        """This call's notes."""
        request = self.request
        notes: dict = {"kind": self.kind, "request_id": request.request_id, "trace": request.trace}
        notes["fence"] = request.fence.as_dict() if request.fence else None
        if request.force:
            notes["force"] = True
        return Journal(self.folder, notes, Journal.stored(self.folder))

    def begin(self, phase: str, **more: object) -> None:
        """Note the step that comes, in the journal and in the answer."""
        self.journal.begin(phase, **more)
        self.result.phase = phase

    def safe_point(self) -> None:
        """Stop here when a newer call waits, or when the call's time is over."""
        if not self.stoppable:
            return
        if self.left() <= 0:
            raise LinkError(
                "deadline",
                f"the call's {self.request.deadline} s are over",
                "nothing: the next call finishes the work",
            )
        newer = self.lock.asked_to_stop() if self.lock else None
        if newer:
            raise ConflictError(
                "superseded",
                f"a newer call ({newer[0]}.{newer[1]}) took over",
                "nothing: the newer call finishes the work",
            )

    @property
    def proving(self) -> float:
        """Seconds that the wanted release has to run undisturbed; what is gone back to need not."""
        return float(self.request.prove) if self.stoppable else 0.0

    def left(self) -> float:
        """Seconds until the call's deadline; without one, more than any call takes."""
        limit = self.request.deadline or float("inf")
        return self.began + limit - time.monotonic()

    def observe(self, closely: bool = False) -> Observation:
        """Look at the node once."""
        return replace(self.noted(), seen=self.driver.look(closely))

    def noted(self) -> Observation:
        """What the deployment's folder says, without a look at what runs."""
        return Observation(
            current=_release.load(self.folder, self.folder.linked("current")),
            previous=_release.load(self.folder, self.folder.linked("previous")),
            following=_release.load(self.folder, self.folder.linked("next")),
            unfinished=Journal.unfinished(self.folder),
            seen=[],
        )
