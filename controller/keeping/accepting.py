"""`margrave controller accept`: a main that was rewritten is followed from here on."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from controller.publish import trunk
from controller.store import Store, audit
from controller.store.audit import Deed
from margrave.errors import Refused

if TYPE_CHECKING:
    from controller.settings import ControllerSettings


def accept(settings: ControllerSettings, commit: str) -> str:
    """Note it, with who did it, for the controller to take; the whole commit."""
    store = Store(settings.database_url)
    try:
        problem = store.schema_problem()
        if problem:
            raise Refused(problem)
        with store.write() as session:
            whole = trunk.accept(session, commit)
            deed = Deed(f"local:{getpass.getuser()}", "repository.accept", whole, "done")
            audit.add(session, deed, datetime.now(UTC))
    finally:
        store.close()
    return whole
