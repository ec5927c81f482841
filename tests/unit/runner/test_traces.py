"""Which id an operation is done under."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from margrave.documents.deployment import read_deployment
from margrave.documents.site import read_site
from margrave.lifecycle import Kind
from margrave.planning import Step
from runner.reconcile.traces import Traces
from runner.source import SITE, Desired
from runner.store.values import Operation, OperationState
from tests.support.repository import STOREFRONT

NODE = "harbor-1"
UPDATE = Step(STOREFRONT, NODE, Kind.UPDATE, "test")
DELETE = Step(STOREFRONT, NODE, Kind.DELETE, "test")
DOCUMENT = f"""
id: {STOREFRONT}
metadata: {{name: storefront, namespace: default, deviceId: harbor/*}}
spec:
  applicationId: storefront
  deploymentProfile:
    type: compose
    components:
      - name: storefront
        properties: {{repository: "oci://registry.example/apps", revision: "1.0.0"}}
  parameters: {{}}
"""


class Site:
    """What Git wants, and the traces over it."""

    def __init__(self) -> None:
        wanted = (read_deployment(DOCUMENT),)
        led = {STOREFRONT: "create-1", SITE: "drain-1"}
        site, nowhere = read_site("{}"), Path("components")
        self.desired = Desired("c", "t", wanted, site, nowhere, {}, traces=led)
        self.traces = Traces(lambda: self.desired)

    def wants(self, trace: str, **changes: Any) -> None:
        led = {**self.desired.traces, STOREFRONT: trace}
        self.desired = replace(self.desired, traces=led, **changes)


def done_for(trace: str) -> Operation:
    """An operation that was done under an id."""
    return Operation(
        id="o", deployment=STOREFRONT, node=NODE, incarnation=1, kind=Kind.UPDATE,
        state=OperationState.FAILED, reason="", attempt=1, epoch=1, seq=1, deadline=60,
        started_at=datetime(2026, 1, 2, tzinfo=UTC), arguments={"trace": trace} if trace else {},
    )  # fmt: skip


def test_what_git_wants_is_done_under_the_id_of_its_change() -> None:
    """Whatever was done there before; and of what nobody knows there is none."""
    site = Site()
    assert site.traces.of(UPDATE, None) == "create-1"
    assert site.traces.of(UPDATE, done_for("older")) == "create-1"
    site.wants("")
    assert site.traces.of(UPDATE, None) == ""


def test_a_command_has_its_own_id_once() -> None:
    """What begins next there is done for it, and what follows from that."""
    site = Site()
    site.traces.asked(STOREFRONT, NODE, "retry-1")
    assert site.traces.of(UPDATE, done_for("create-1")) == "retry-1"
    assert site.traces.of(replace(UPDATE, attempt=2), done_for("retry-1")) == "retry-1"
    assert site.traces.of(replace(UPDATE, kind=Kind.ROLLBACK), done_for("retry-1")) == "retry-1"
    assert site.traces.of(UPDATE, done_for("retry-1")) == "create-1"


def test_a_command_is_over_when_git_wants_something_else() -> None:
    """Nothing came of it, and the change that came since was asked for by another."""
    site = Site()
    site.traces.asked(STOREFRONT, NODE, "retry-1")
    site.wants("update-1")
    assert site.traces.of(UPDATE, None) == "update-1"


def test_a_command_without_an_id_takes_none_over() -> None:
    """Nor does one whose id would be no line of a log."""
    for none in (None, "", 7, "two words", "x" * 129):
        site = Site()
        site.traces.asked(STOREFRONT, NODE, "retry-1")
        site.traces.asked(STOREFRONT, NODE, none)
        assert site.traces.of(UPDATE, None) == "create-1", none


def test_an_attempt_whose_forerunner_has_no_id_is_done_for_the_change() -> None:
    """As after an upgrade of the runner."""
    assert Site().traces.of(replace(UPDATE, attempt=2), done_for("")) == "create-1"


def test_what_leaves_a_drained_node_leaves_it_for_the_drain() -> None:
    """And what Git no longer wants, for the commit that took it away."""
    site = Site()
    drained = read_site("nodes: {harbor-1: {drain: true}}")
    assert site.traces.of(DELETE, None) == "create-1"
    site.wants("create-1", site=drained)
    assert site.traces.of(DELETE, None) == "drain-1"
    assert site.traces.of(replace(DELETE, node="harbor-2"), None) == "create-1"
    site.wants("delete-1", deployments=())
    assert site.traces.of(DELETE, None) == "delete-1"
