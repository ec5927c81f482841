"""What goes out with a call and is stored nowhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from margrave.lifecycle import Kind
from runner.ports import Call, Node, Target
from runner.reconcile.calls import Calls
from runner.store.values import Operation, OperationState

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STORED = {"components": [{"name": "web", "variables": {"A": "secret://db", "B": "plain"}}]}
FILLED = {"components": [{"name": "web", "variables": {"A": "s3cret", "B": "plain"}}]}
LOGINS = {"registries": [{"host": "r.example", "username": "u", "password": "pw"}]}


def _call(kind: Kind, stored: dict[str, Any], seconds: int = 4200) -> Call:
    """The call of an operation that has this stored."""

    def sensitive(given: Any) -> dict[str, Any]:
        return {**(FILLED if given.get("components") else {}), **LOGINS}

    calls = Calls(
        desired=lambda: None,
        release_of=lambda _: "",
        policy=lambda _: {},
        target=lambda node: Target(node.name, node.address, 22, "margrave", "", ""),
        sensitive=sensitive,
    )
    one = Operation(
        id="o",
        deployment="d",
        node="n",
        incarnation=1,
        kind=kind,
        state=OperationState.RUNNING,
        reason="test",
        attempt=1,
        epoch=1,
        seq=7,
        deadline=seconds,
        started_at=NOW,
        arguments=stored,
    )
    return calls.call(one, Node("n", "192.0.2.1"), "runner")


def test_the_node_is_told_what_is_secret() -> None:
    """It masks what it notes and answers; it cannot tell a secret from a greeting by itself."""
    call = _call(Kind.UPDATE, STORED)

    assert call.arguments["secrets"] == ["s3cret", "pw"]
    assert call.hidden == ("s3cret", "pw")
    assert "secrets" not in _call(Kind.ROLLBACK, {"to_release": "previous"}).arguments


@pytest.mark.parametrize("kind", [Kind.INSTALL, Kind.UPDATE, Kind.DELETE])
def test_the_node_gives_up_before_its_runner_does(kind: Kind) -> None:
    """So the answer still finds somebody, and nothing works on behalf of nobody."""
    call = _call(kind, {"volumes": "keep"} if kind is Kind.DELETE else STORED)

    assert 4100 < call.arguments["deadline"] < call.deadline
    assert _call(kind, {}, seconds=5).arguments["deadline"] == 1
