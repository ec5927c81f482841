"""The controller's parts, put together once by app.py and handed to whoever answers a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.store.freshness import Moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.access.limiter import Limiter
    from controller.access.refusal_budget import RefusalBudget
    from controller.access.uses import TokenUses
    from controller.admission import Admission
    from controller.catalog import Catalog
    from controller.events.broker import Broker
    from controller.publish import Publisher, Repository, Sites
    from controller.reports.heartbeat import Heartbeats
    from controller.reports.intake import Intake
    from controller.settings import ControllerSettings
    from controller.store import Store


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a request may need; no part finds another by itself."""

    settings: ControllerSettings
    store: Store
    clock: Callable[[], datetime]
    broker: Broker
    catalog: Catalog
    admission: Admission
    repository: Repository
    publisher: Publisher
    sites: Sites
    intake: Intake
    heartbeats: Heartbeats
    sign_ins: Limiter
    token_uses: TokenUses
    refusals: RefusalBudget

    def moment(self) -> Moment:
        """Now, as freshness is judged by it."""
        return Moment(self.clock(), self.intake.period)
