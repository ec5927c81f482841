"""Whether what is shown is known to hold now, as a condition: the same as `freshness` judges rows.

Numbers of a fleet are taken by the database; silence that is not split off would count as health.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, case, exists, or_, select

from controller.store.freshness import ACTIVE_PERIODS, STALE_PERIODS, NodeStatus
from controller.store.models import Deployment, Node, Placement, Site
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement

    from controller.store.freshness import Moment


def heard(moment: Moment) -> ColumnElement[bool]:
    """Whether a site's runner was heard of lately; false too where it never was."""
    return and_(
        Site.last_seen.is_not(None),
        Site.last_seen > moment.now - moment.period * ACTIVE_PERIODS,
    )


def unknown(moment: Moment) -> ColumnElement[bool]:
    """Whether nobody knows how a deployment stands: its site is silent, or a node that has it."""
    silent_node = or_(Node.status.is_(None), Node.status != NodeStatus.ACTIVE.value)
    on_one = (
        select(Placement.deployment)
        .outerjoin(Node, (Node.site == Deployment.site) & (Node.name == Placement.node))
        .where(Placement.deployment == Deployment.key, Placement.state != State.DELETED)
        .where(silent_node)
        .correlate(Deployment)
    )
    return or_(~heard(moment), exists(on_one))


def failing(node: type[Node]) -> ColumnElement[bool]:
    """Whether a node's last check failed although it still counts as active."""
    return and_(node.status == NodeStatus.ACTIVE.value, node.reason.is_not(None))


def node_is(statuses: Iterable[NodeStatus], moment: Moment) -> ColumnElement[bool]:
    """Whether a node stands so: as its runner says, and never better known than the runner."""
    stale = moment.now - moment.period * STALE_PERIODS
    order = (NodeStatus.ACTIVE, NodeStatus.UNUSABLE, NodeStatus.STALE, NodeStatus.OFFLINE)
    of_site = case((heard(moment), 0), (Site.last_seen > stale, 2), else_=3)
    words = {status.value: place for place, status in enumerate(order)}
    reported = case(words, value=Node.status, else_=3)
    worse = case((of_site > reported, of_site), else_=reported)
    return worse.in_([order.index(one) for one in statuses])
