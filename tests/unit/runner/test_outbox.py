"""Reports arrive in order, each once, whatever happens to the line or to the other side."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from margrave.errors import Unreachable
from runner.outbox.client import Expected, parse_events
from runner.outbox.heartbeat import Heart
from runner.outbox.sender import Sender
from runner.outbox.stream import Stream
from runner.ports import Node, NodeStatus
from runner.store import Store, outbox, site
from runner.store.nodes import Nodes
from tests.support.waiting import eventually

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class FakeController:
    """Takes reports as the controller does: in order, each once, with a cursor per line."""

    def __init__(self) -> None:
        self.cursors: dict[tuple[str, int], int] = {}
        self.taken: list[tuple[int, int, str]] = []
        self.away = False
        self.forgets_answers = 0  # so many batches are taken in, and the answer is lost
        self.answer: dict[str, Any] = {"head": None, "commands": []}
        self.beats: list[dict[str, Any]] = []

    def report(self, body: dict[str, Any]) -> int:
        """Take a batch in."""
        if self.away:
            raise Unreachable("the line is cut")
        line = (body["runner"], body["epoch"])
        following = self.cursors.get(line, 1)
        if body["first_seq"] > following:
            if body["events"][0]["kind"] != "snapshot":
                raise Expected(following)
            following = body["first_seq"]
        for event in body["events"]:
            if event["seq"] == following:
                self.taken.append((body["epoch"], event["seq"], event["kind"]))
                following += 1
        self.cursors[line] = following
        if self.forgets_answers:
            self.forgets_answers -= 1
            raise Unreachable("the answer was lost")
        return following - 1

    def heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Note it."""
        if self.away:
            raise Unreachable("the line is cut")
        self.beats.append(body)
        return self.answer


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with an identity."""
    made = Store(tmp_path, clock=lambda: NOW)
    with made.write() as tx:
        site.identity_of(tx)
    return made


@pytest.fixture
def controller() -> FakeController:
    """A controller that has heard nothing."""
    return FakeController()


def test_a_long_outage_leaves_out_the_oldest_log_lines_and_no_state(
    store: Store, controller: FakeController
) -> None:
    """The numbers stay without a gap, the reader is told what is missing, and newer lines stay."""
    with store.write() as tx:
        for number in range(20):
            outbox.append(tx, "placement", {"number": number})
            outbox.append(tx, "log", {"operation": "o", "lines": [f"line {number}", "more"]})
    with store.write() as tx:
        assert outbox.shorten_logs(tx, 5) == 15
        assert outbox.shorten_logs(tx, 5) == 0
        rows = outbox.waiting(tx, 100)
    assert [one.seq for one in rows] == list(range(1, 41))
    assert [one.data for one in rows if one.kind == "placement"] == [
        {"number": number} for number in range(20)
    ]
    logs = [one.data["lines"] for one in rows if one.kind == "log"]
    assert logs[14] == ["… 2 lines are left out: the line to the controller was cut for too long"]
    assert logs[15] == ["line 15", "more"]
    sender = Sender(store, controller)
    while sender.send_some():
        pass
    assert [seq for _, seq, _ in controller.taken] == list(range(1, 41))


def say(store: Store, count: int) -> None:
    """Put so many events into the outbox."""
    with store.write() as tx:
        for number in range(count):
            outbox.append(tx, "log", {"n": number})


def drain(sender: Sender) -> None:
    """Send until nothing waits."""
    while sender.send_some():
        pass


def test_a_new_line_begins_with_a_snapshot(store: Store, controller: FakeController) -> None:
    """Sequence 1 of a runner and epoch says how everything stands."""
    sender = Sender(store, controller)
    sender.introduce()
    sender.introduce()
    say(store, 2)
    drain(sender)
    assert controller.taken == [(1, 1, "snapshot"), (1, 2, "log"), (1, 3, "log")]


def test_lost_answers_double_nothing(store: Store, controller: FakeController) -> None:
    """A batch that arrived although its answer did not is sent again, and taken once."""
    sender = Sender(store, controller)
    say(store, 3)
    controller.forgets_answers = 1
    with pytest.raises(Unreachable):
        sender.send_some()
    drain(sender)
    assert [seq for _, seq, _ in controller.taken] == [1, 2, 3]


def test_a_restored_controller_gets_what_it_lacks(store: Store, controller: FakeController) -> None:
    """Yesterday's database asks for yesterday's events, as far as they are kept."""
    sender = Sender(store, controller)
    say(store, 5)
    drain(sender)
    (line,) = controller.cursors
    controller.cursors[line] = 3
    say(store, 1)
    drain(sender)
    assert [seq for _, seq, _ in controller.taken] == [1, 2, 3, 4, 5, 3, 4, 5, 6]


def test_events_no_longer_kept_are_replaced_by_a_snapshot(
    store: Store, controller: FakeController
) -> None:
    """What cannot be told step by step is told as it stands."""
    sender = Sender(store, controller)
    say(store, 5)
    drain(sender)
    with store.write() as tx:
        outbox.forget_before(tx, datetime(2030, 1, 1, tzinfo=UTC))
    controller.cursors.clear()
    say(store, 1)
    drain(sender)
    assert controller.taken[-1] == (1, 7, "snapshot")
    with store.read() as tx:
        assert outbox.count_waiting(tx) == 0


def test_a_runner_restored_from_yesterday_goes_on_beyond_what_was_seen(
    store: Store, controller: FakeController
) -> None:
    """Numbers that the controller has seen are not used for other events."""
    with store.read() as tx:
        runner = site.identity_of(tx).runner
    controller.cursors[(runner, 1)] = 41
    sender = Sender(store, controller)
    say(store, 3)
    drain(sender)
    assert [seq for _, seq, _ in controller.taken] == [41]
    assert controller.taken[0][2] == "snapshot"


def test_an_older_epoch_is_told_before_the_new_one(
    store: Store, controller: FakeController
) -> None:
    """A take-over loses nothing of what happened before it."""
    sender = Sender(store, controller)
    say(store, 2)
    with store.write() as tx:
        site.raise_epoch(tx, 5)
    say(store, 1)
    drain(sender)
    assert [(epoch, seq) for epoch, seq, _ in controller.taken] == [(1, 1), (1, 2), (5, 1)]


def test_the_sender_wakes_for_each_event_and_survives_a_cut(
    store: Store, controller: FakeController
) -> None:
    """After the line was cut everything arrives, in order, by itself."""
    sender = Sender(store, controller)
    thread = threading.Thread(target=sender.run, daemon=True)
    controller.away = True
    thread.start()
    say(store, 3)
    eventually(lambda: sender.trouble)
    controller.away = False
    eventually(lambda: len(controller.taken) == 3)
    say(store, 1)
    eventually(lambda: [seq for _, seq, _ in controller.taken] == [1, 2, 3, 4])
    eventually(lambda: not sender.trouble)
    sender.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_a_heartbeat_tells_nodes_and_hands_commands_on(
    store: Store, controller: FakeController
) -> None:
    """The answer's head and commands reach those who act on them."""
    Nodes(store).save(Node("harbor-1", "192.0.2.1", last_seen=NOW))
    heads: list[str] = []
    commands: list[str] = []
    heart = Heart(
        store,
        controller,
        heads.append,
        lambda one: commands.append(one["id"]),
        lambda _: NodeStatus.ACTIVE,
    )
    controller.answer = {"head": "abc", "commands": [{"id": "c1", "kind": "retry"}]}
    heart.beat()
    assert (heads, commands) == (["abc"], ["c1"])
    (node,) = controller.beats[0]["nodes"]
    assert (node["name"], node["status"]) == ("harbor-1", "active")
    controller.away = True
    heart.beat()
    assert heart.trouble == "the line is cut"


@pytest.mark.parametrize("commands", ["retry", {"id": "c1", "kind": "retry"}, 7, None])
def test_commands_that_are_no_list_are_none(
    store: Store, controller: FakeController, commands: object
) -> None:
    """Whatever stands in their place: the beat has reached the controller all the same."""
    heard: list[object] = []
    heart = Heart(store, controller, heard.append, heard.append, lambda _: NodeStatus.ACTIVE)
    controller.answer = {"head": None, "commands": commands}
    heart.beat()
    assert (heard, heart.trouble) == ([], "")


def test_server_sent_events_are_read_with_comments_between() -> None:
    """Only events with data count; several lines are one text."""
    lines = [": beat", "", "event: revision", "data: {}", "", "id: 7", "data: a", "data: b", ""]
    assert list(parse_events(iter(lines))) == [("revision", "{}"), ("message", "a\nb")]


def test_each_connection_of_the_stream_looks_at_everything() -> None:
    """What was said while nobody listened is not repeated, so it is looked for."""
    calls: list[str] = []

    class OneEvent:
        """Says one thing and breaks, then is away."""

        def __init__(self) -> None:
            self.opened = 0

        def stream(self) -> Any:
            """A context with one event."""
            self.opened += 1
            if self.opened > 1:
                stream.stop()
                raise Unreachable("gone")
            return self

        def __enter__(self) -> Any:
            return iter([("revision", "{}"), ("unknown", "{}")])

        def __exit__(self, *_: object) -> None:
            return None

    stream = Stream(OneEvent(), lambda: calls.append("git"), lambda: calls.append("commands"))
    stream.run()
    assert calls == ["git", "commands", "git"]
