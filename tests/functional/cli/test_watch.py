"""`--watch` and `watch`: what is shown again, how often, and what does not end it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from margrave.cli import watching
from tests.functional.cli import fleet
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController, Run

LIST = f"{fleet.API}/deployments"
EVENTS = f"{fleet.API}/events"
REFUSED = (403, {"detail": "the token has ended"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that ends is taken up again at once."""
    monkeypatch.setattr(watching, "PAUSES", (0.01,))
    monkeypatch.setattr(watching, "LEAST", 0.0)


def in_turn(controller: FakeController, path: str, *answers: Answer) -> None:
    """One answer after the other, then a refusal, which ends whoever watches."""
    left = [*answers, REFUSED]
    controller.does("GET", path, lambda _: left.pop(0) if len(left) > 1 else left[0])


def one(state: str) -> Answer:
    """A list of one deployment in a state."""
    return 200, {"items": [{**fleet.STOREFRONT, "state": state}], "next": None}


def test_watch_prints_a_line_for_each_event(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of the deployment as they come, resumed after the last one; Ctrl-C ends it."""
    mine = {"deployment": fleet.ONE, "node": "harbor-1", "site": "harbor", "state": "UPDATING"}
    other = {**mine, "deployment": "other", "state": "FAILED"}
    stream = "".join(
        f"id: {number}\nevent: placement\ndata: {json.dumps(data)}\n\n"
        for number, data in ((7, mine), (8, other))
    )
    controller.lists(LIST, fleet.STOREFRONT)
    controller.lists(f"{LIST}/{fleet.ONE}/placements")
    controller.on("GET", "/api/v1/events", 200, ": hello\n\n" + stream)
    monkeypatch.setattr("time.sleep", _second_time(controller))

    ran = run("deployment", "watch", "storefront")

    assert ran.code == 130
    assert ran.out.count("UPDATING") == 2
    assert "FAILED" not in ran.out
    resumed = [one for one in controller.calls if one.path == "/api/v1/events"][1]
    assert resumed.headers["Last-Event-ID"] == "8"


def _second_time(controller: FakeController) -> Any:
    def pause(_: float) -> None:
        if sum(one.path == "/api/v1/events" for one in controller.calls) >= 2:
            raise KeyboardInterrupt

    return pause


@pytest.mark.parametrize("listening", [(200, "event: deployment\ndata: {}\n\n"), (503, {})])
def test_watch_shows_a_list_again_when_it_changed(
    run: Run, controller: FakeController, listening: Answer
) -> None:
    """What changed nothing shown is silent; with JSON each answer is one line. Where the controller
    has no stream to spare it is asked from time to time."""
    in_turn(controller, LIST, one("UPDATING"), one("UPDATING"), one("INSTALLED"))
    controller.on("GET", EVENTS, *listening)

    ran = run("deployment", "list", "--watch", "-o", "json")

    shown = [json.loads(line) for line in ran.out.splitlines() if line]
    assert [each["items"][0]["state"] for each in shown] == ["UPDATING", "INSTALLED"]
    assert ran.code == 5, "it ends when it may not look any more"


def test_a_controller_that_is_ill_for_a_moment_ends_no_watch(
    run: Run, controller: FakeController
) -> None:
    """A proxy's 502 while it restarts, 503, and 429 are waited out."""
    ills = [(status, {"detail": "later"}) for status in (502, 503, 429)]
    in_turn(controller, LIST, one("UPDATING"), *ills, one("INSTALLED"))
    controller.on("GET", EVENTS, 200, "")

    ran = run("deployment", "list", "--watch")

    assert "INSTALLED" in ran.out
    assert "later" not in ran.err


def test_many_events_are_one_question(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much happens, the whole list is asked for at most once in LEAST."""
    monkeypatch.setattr(watching, "LEAST", 0.3)
    in_turn(controller, LIST, one("UPDATING"), one("INSTALLED"))
    controller.on("GET", EVENTS, 200, "event: node\ndata: {}\n\n" * 500)
    begun = time.monotonic()

    run("deployment", "list", "--watch")

    assert sum(call.path == LIST for call in controller.calls) == 3
    assert time.monotonic() - begun >= 2 * 0.3


@pytest.mark.parametrize(
    "words",
    [
        "deployment explain storefront", "deployment history storefront",
        "deployment list", "deployment show storefront", "node list", "node show harbor-1",
        "site list", "site show harbor",
    ],
)  # fmt: skip
def test_what_can_be_watched_is_a_line_each_time(
    run: Run, controller: FakeController, words: str
) -> None:
    """With JSON, for whoever reads line by line."""
    fleet.told(controller)
    connections: list[Call] = []

    def stream(call: Call) -> Answer:
        connections.append(call)
        if len(connections) == 1:
            return 200, ""
        eventually(lambda: _asked(controller), message="it is asked")
        return REFUSED

    controller.does("GET", EVENTS, stream)

    ran = run(*words.split(), "-w", "-o", "json")

    assert isinstance(json.loads(ran.out), dict)
    assert ran.out.count("\n") == 1


def _asked(controller: FakeController) -> bool:
    """Something was asked for after the stream had been opened."""
    paths = [call.path for call in controller.calls]
    return any(path != EVENTS for path in paths[paths.index(EVENTS) :])
