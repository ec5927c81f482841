"""`--wait`: which ends are successes, and what is waited for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from margrave.cli import waiting
from tests.functional.cli.storefront import HARBOR, LIST, deployment, placement

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController, Run


class Moves:
    """A deployment that goes from answer to answer each time it is looked at."""

    def __init__(self, controller: FakeController, *steps: dict[str, Any]) -> None:
        self.steps = list(steps)
        controller.does("GET", f"{LIST}/{HARBOR}/placements", self._placements)

    def _placements(self, _: Call) -> Answer:
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return 200, {"items": [placement(HARBOR, **step)], "next": None}


WAIT = ("deployment", "update", "storefront", "--version", "1.1.0", "--wait")


def test_wait_ends_with_0_when_all_succeeded(run: Run, known: FakeController) -> None:
    """An old success is not taken for the new one: the wanted revision is judged."""
    old = {"wanted_revision": "sha256:old"}
    Moves(known, old, {"state": "UPDATING", "outcome": "pending"}, {})

    ran = run(*WAIT, "-o", "json")

    assert ran.code == 0, ran.err
    assert ran.json["placements"][0]["wanted_revision"] == "sha256:new"
    assert len([one for one in known.calls if one.path.endswith("/placements")]) == 3


def test_wait_waits_for_the_request_to_be_published(run: Run, known: FakeController) -> None:
    """Nothing is judged while the request stands in the queue."""
    states = ["queued", "publishing", "published"]
    known.does(
        "GET",
        "/api/v1/requests/r1",
        lambda _: (200, {"state": states.pop(0) if len(states) > 1 else states[0], "commit": "c1"}),
    )
    Moves(known, {})

    assert run(*WAIT).code == 0
    assert states == ["published"]


@pytest.mark.parametrize(
    "end",
    [
        {"outcome": "rolled-back"},
        {"outcome": "held"},
        {"state": "FAILED", "outcome": "failed"},
        {"state": "FAILED", "outcome": "rollback-failed"},
    ],
)
def test_wait_ends_with_1_when_one_ended_otherwise(
    run: Run, known: FakeController, end: dict[str, Any]
) -> None:
    """Rolled back is no success; the line says where and why."""
    error = {"class": "health", "code": "x", "message": "never healthy", "cure": "see its log"}
    Moves(known, {**end, "error": error})

    ran = run(*WAIT)

    assert ran.code == 1
    assert f"harbor/harbor-1: {end['outcome']}: health: never healthy (see its log)" in ran.err


def test_wait_ends_when_the_canary_failed_and_the_rest_is_held(
    run: Run, known: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first install has nothing to go back to, and what is held before it began stays PENDING:
    both have ended, without a wait for a way back."""
    monkeypatch.setattr(waiting, "GRACE", 60.0)
    rows = [
        placement(HARBOR, state="FAILED", outcome="failed", revision=None),
        placement(HARBOR, node="harbor-2", state="PENDING", outcome="held", revision=None),
        placement(HARBOR, node="harbor-3", state="PENDING", outcome="held", revision=None),
    ]
    known.on("GET", f"{LIST}/{HARBOR}/placements", 200, {"items": rows, "next": None})

    ran = run(*WAIT, "--timeout", "5s")

    assert ran.code == 1
    assert "harbor/harbor-2: held" in ran.err


def test_wait_goes_on_while_a_placement_is_pending(run: Run, known: FakeController) -> None:
    """Only what is held has ended before it began."""
    Moves(known, {"state": "PENDING", "outcome": "pending"}, {"state": "PENDING"}, {})

    assert run(*WAIT).code == 0


def test_a_failure_that_goes_back_is_waited_for(run: Run, known: FakeController) -> None:
    """FAILED is passed through on the way back; the end is rolled-back."""
    Moves(known, {"state": "FAILED", "outcome": "failed"}, {"outcome": "rolled-back"})

    ran = run(*WAIT)

    assert (ran.code, "harbor/harbor-1: rolled-back" in ran.err) == (1, True)


def test_wait_ends_with_124_at_the_limit(run: Run, known: FakeController) -> None:
    """What was still missing is told."""
    Moves(known, {"state": "UPDATING", "outcome": "pending"})

    ran = run(*WAIT, "--timeout", "1s")

    assert ran.code == 124
    assert "storefront at harbor" in ran.err


@pytest.mark.parametrize("path", ["/api/v1/requests/r1", f"{LIST}/{HARBOR}/placements"])
def test_the_limit_holds_while_the_controller_does_not_answer(
    run: Run, known: FakeController, path: str
) -> None:
    """A controller that takes a connection and never answers does not stretch the limit."""
    ended, patience = threading.Event(), []

    def hang(_: Call) -> Answer:
        if not ended.wait(15):
            patience.append("the command waited for the answer")
        return 503, {"title": "busy", "detail": "too late"}

    known.does("GET", path, hang)
    try:
        ran = run(*WAIT, "--timeout", "1s")
    finally:
        ended.set()

    assert (ran.code, patience) == (124, [])
    assert "not done after 1 s" in ran.err


@pytest.mark.parametrize(
    "held",
    [
        {"step": "paused", "detail": "the site is paused: stocktaking, until 2030-01-01T06:00:00Z"},
        {"step": "locked", "detail": "the site is locked: repair, until 2030-01-01T06:00:00Z"},
        {"step": "window", "detail": "no window is open before 2030-01-01T02:00:00Z"},
        {"step": "placement", "detail": "harbor-1: PENDING, pending, waits for pause until 2030"},
    ],
)
def test_what_holds_a_change_up_is_named_at_once_and_at_the_limit(
    run: Run, known: FakeController, held: dict[str, Any]
) -> None:
    """Window, pause or lock with its end, once while it is waited for and in the last line."""
    Moves(known, {"wanted_revision": "sha256:old"})
    steps = [{"step": "received", "ok": False, "detail": "not yet"}, {**held, "ok": False}]
    known.on("GET", f"{LIST}/{HARBOR}/explain", 200, {"steps": steps})

    ran = run(*WAIT, "--timeout", "1s")

    assert ran.code == 124
    first, last = ran.err.splitlines()
    assert first == f"margrave: storefront at harbor: {held['detail']}"
    assert f"waiting for storefront at harbor: {held['detail']}" in last


def test_what_goes_on_by_itself_is_no_hold(run: Run, known: FakeController) -> None:
    """A retry after a while and the turn of a batch are steps of the change."""
    Moves(known, {"wanted_revision": "sha256:old"}, {"wanted_revision": "sha256:old"}, {})
    steps = [
        {"step": "placement", "ok": False, "detail": f"harbor-1: FAILED, waits for {cause}"}
        for cause in ("backoff until 2030", "batch", "operation")
    ]
    known.on("GET", f"{LIST}/{HARBOR}/explain", 200, {"steps": steps})

    ran = run(*WAIT)

    assert (ran.code, ran.err) == (0, "")


def test_a_request_that_cannot_be_published_says_why(run: Run, known: FakeController) -> None:
    """A registry that only the nodes reach is named at once, with its cure."""
    error = {"message": "registry plant.lan:5000 does not answer", "cure": "add [[registries]]"}
    request = {"state": "queued", "error": error}
    known.on("GET", "/api/v1/requests/r1", 200, request)

    ran = run(*WAIT, "--timeout", "1s")

    assert ran.code == 124
    first, last = ran.err.splitlines()
    said = "registry plant.lan:5000 does not answer (add [[registries]])"
    assert first == f"margrave: request r1 is queued: {said}"
    assert said in last


def test_a_request_that_is_refused_ends_the_wait(run: Run, known: FakeController) -> None:
    """The document was gone when it was published: 1, with the reason."""
    known.on("GET", "/api/v1/requests/r1", 200, {"state": "failed", "error": {"message": "gone"}})

    ran = run(*WAIT)

    assert (ran.code, "gone" in ran.err) == (1, True)


def test_delete_waits_until_it_is_gone(run: Run, known: FakeController) -> None:
    """DELETED is success."""
    Moves(known, {})
    known.on("GET", f"{LIST}/{HARBOR}", 200, deployment("harbor", HARBOR, state="DELETED"))

    assert run("deployment", "delete", "storefront", "--yes", "--wait").code == 0


def test_retry_is_not_judged_by_the_old_failure(run: Run, known: FakeController) -> None:
    """The placement has to move before its outcome counts."""
    held = {"outcome": "held"}
    Moves(known, held, held, {"state": "UPDATING", "outcome": "pending", "attempt": 2}, {})

    assert run("deployment", "retry", "storefront", "--wait").code == 0


def test_retry_ends_when_one_failed_again_and_the_other_is_held_again(
    run: Run, known: FakeController
) -> None:
    """The held one looks as before; the one that was tried tells that all has ended."""
    failed = {"outcome": "rolled-back"}
    rows = [
        [placement(HARBOR, **failed, since=since), placement(HARBOR, node="n2", outcome="held")]
        for since in ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z")
    ]
    known.does(
        "GET",
        f"{LIST}/{HARBOR}/placements",
        lambda _: (200, {"items": rows.pop(0) if len(rows) > 1 else rows[0], "next": None}),
    )

    assert run("deployment", "retry", "storefront", "--wait", "--timeout", "5s").code == 1


def test_a_controller_that_restarts_is_waited_for(run: Run, known: FakeController) -> None:
    """503 in the middle is not the end."""
    answers: list[Answer] = [(503, {"detail": "starting"}), (200, deployment("harbor", HARBOR))]
    known.does(
        "GET", f"{LIST}/{HARBOR}", lambda _: answers.pop(0) if len(answers) > 1 else answers[0]
    )
    Moves(known, {})

    assert run(*WAIT).code == 0
