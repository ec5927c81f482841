"""The line to the controller, byte by byte: which connections are kept, and which answers end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

import pytest

from margrave.errors import MargraveError, Unreachable
from margrave.secret import Secret
from runner.outbox import wire
from runner.outbox.client import Controller
from runner.settings import Controller as Line
from tests.support.waiting import eventually

ACK: Final = b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"ack": 1}'
STREAM: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


class Wired:
    """Says bytes as they are given: a list for each connection, one of it for each request."""

    def __init__(self, conversations: list[list[bytes]], *, hears: bool) -> None:
        self.connections = self.ended = 0
        self._hears = hears
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, args=(conversations,), daemon=True).start()

    def _serve(self, conversations: list[list[bytes]]) -> None:
        for conversation in conversations:
            line, _ = self.listener.accept()
            self.connections += 1
            with line, line.makefile("rb") as come:
                for said in conversation:
                    if self._hears:
                        _request(come)
                    line.sendall(said)
            self.ended += 1


def _request(come: BinaryIO) -> None:
    length = 0
    while (header := come.readline().strip().lower()) and header:
        if header.startswith(b"content-length:"):
            length = int(header.partition(b":")[2])
    come.read(length)


@contextmanager
def wired(*conversations: list[bytes], hears: bool = True) -> Iterator[tuple[Wired, Controller]]:
    """A server that says so, and the line to it."""
    server = Wired(list(conversations), hears=hears)
    port = server.listener.getsockname()[1]
    controller = Controller(f"http://127.0.0.1:{port}", "harbor", Secret("t"), Line())
    yield server, controller
    controller.close()
    server.listener.close()


def test_reports_one_after_the_other_go_over_one_connection() -> None:
    """A backlog is many of them, and each new connection costs a handshake."""
    with wired([ACK, ACK, ACK]) as (server, controller):
        assert [controller.report({"events": []}) for _ in range(3)] == [1, 1, 1]
        assert server.connections == 1


def test_a_connection_that_was_hung_up_meanwhile_is_not_asked() -> None:
    """A controller that was restarted is no trouble, as long as nobody asked in between."""
    with wired([ACK], [ACK]) as (server, controller):
        controller.report({"events": []})
        eventually(lambda: server.ended == 1)
        assert controller.report({"events": []}) == 1
        assert server.connections == 2


def test_a_connection_that_nobody_used_for_a_while_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What stands between forgets it without a word, and the next report would hang in it."""
    monkeypatch.setattr(wire, "_IDLE_SECONDS", 0.0)
    with wired([ACK, ACK], [ACK]) as (server, controller):
        controller.report({"events": []})
        threading.Thread(target=controller.report, args=({"events": []},), daemon=True).start()
        eventually(lambda: server.connections == 2)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnumber\r\n{",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"",
    ],
    ids=["cut off", "cut off in a piece", "no length", "many headers", "another protocol", "none"],
)
def test_an_answer_that_is_none_is_trouble_and_no_more(said: bytes) -> None:
    """The next one is taken again, over another connection."""
    with wired([said], [ACK]) as (_, controller):
        with pytest.raises(Unreachable, match="/sites/harbor/reports: "):
            controller.report({"events": []})
        assert controller.report({"events": []}) == 1


def test_an_answer_without_end_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stands in the controller's place may say as much as they like."""
    monkeypatch.setattr(wire, "_ANSWER_BYTES", 1000)
    said = [b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1001]
    with wired(said) as (_, controller), pytest.raises(Unreachable, match="more than 1000 bytes"):
        controller.heartbeat({})


def test_who_refuses_a_report_before_it_is_told_whole_is_heard() -> None:
    """A proxy that takes less than was sent says so and hangs up; that is no broken line."""
    said = b'HTTP/1.1 413 Too Large\r\nContent-Length: 19\r\n\r\n{"detail": "never"}'
    large = {"events": ["x" * 1000] * 10_000}
    with (
        wired([said], hears=False) as (_, controller),
        pytest.raises(MargraveError, match="413 never") as raised,
    ):
        controller.report(large)
    assert not isinstance(raised.value, Unreachable)


def test_hints_in_pieces_are_heard_one_by_one() -> None:
    """As a server sends what has no length yet, whatever the pieces' borders."""
    pieces = [b": open\n\nevent: rev", b"ision\r\nda", b"ta: {}\r\n\r\nevent: command\ndata: x\n\n"]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in pieces)
    said = STREAM + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    with wired([said]) as (_, controller), controller.stream() as events:
        assert list(events) == [("revision", "{}"), ("command", "x")]


@pytest.mark.parametrize("said", [b"10\r\nevent", b"20000\r\n" + b"x" * 0x20000 + b"\r\n"])
def test_a_stream_that_breaks_off_or_says_one_endless_word_is_trouble(said: bytes) -> None:
    """It is taken up again; nothing of it is kept."""
    begun = STREAM + b"Transfer-Encoding: chunked\r\n\r\n"
    with (
        wired([begun + said]) as (_, controller),
        pytest.raises(Unreachable),
        controller.stream() as events,
    ):
        list(events)


def test_who_listens_hears_the_end_when_the_line_is_closed() -> None:
    """The runner ends without waiting for the controller to say something."""
    heard: list[str] = []
    holding = threading.Event()

    class Silent(Wired):
        """Opens the stream and says no more."""

        def _serve(self, conversations: list[list[bytes]]) -> None:
            line, _ = self.listener.accept()
            with line:
                line.sendall(STREAM + b"\r\nevent: revision\ndata: {}\n\n")
                holding.wait(60)

    server = Silent([], hears=False)
    url = f"http://127.0.0.1:{server.listener.getsockname()[1]}"
    controller = Controller(url, "harbor", Secret("t"), Line())

    def listen() -> None:
        with suppress(Unreachable), controller.stream() as events:
            for event, _ in events:
                heard.append(event)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    eventually(lambda: heard == ["revision"])
    controller.close()
    thread.join(10)
    holding.set()
    server.listener.close()
    assert not thread.is_alive()
