"""Server-sent events, as the command reads them."""

from __future__ import annotations

from margrave.cli.api import messages


def test_messages_are_read_over_comments_and_rubbish() -> None:
    """Comments and messages without a JSON object are passed over; the rest comes in order."""
    lines = [
        ": hello", "", "id: 1", "event: placement", 'data: {"a": 1}', "",
        "data: rubbish", "", 'data: {"b":', "data: 2}", "", 'data: {"cut": true}',
    ]  # fmt: skip

    found = [(one.id, one.kind, one.data) for one in messages(iter(lines))]

    assert found == [("1", "placement", {"a": 1}), ("", "message", {"b": 2})]
