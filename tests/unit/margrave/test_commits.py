"""What a commit's message tells of who asked for it."""

from __future__ import annotations

import pytest

from margrave import commits

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REQUEST = "5f0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d10"


@pytest.mark.parametrize(
    ("traces", "requests", "told"),
    [
        ("ticket-7\n", f"{REQUEST}\n", "ticket-7"),
        ("ticket-7\nticket-8\n", "", "ticket-7"),
        ("", f"{REQUEST}\n", REQUEST),
        ("", "", "0123456789ab"),
        ("$(reboot)\n", "", "0123456789ab"),
        ("two words\n", f"{REQUEST}\n", REQUEST),
        ("x" * 129, "as I said\n", "0123456789ab"),
        ("x" * 128, "", "x" * 128),
        ("\x1b[2J", "", "0123456789ab"),
    ],
)
def test_a_commit_is_followed_by_the_id_of_its_request_or_else_by_its_own(
    traces: str, requests: str, told: str
) -> None:
    """Anybody who pushes may write trailers: what is no id is not taken for one."""
    assert commits.trace_of(COMMIT, traces, requests) == told


def test_a_log_is_read_commit_by_commit() -> None:
    """With all fields of each and the paths that it changed; a merge has none."""
    log = f"\0{COMMIT}\0ticket-7\n\0\nsites/a.yaml\0b\0\0{COMMIT}\0\0\0{COMMIT}\0\0\nc\0"
    assert list(commits.read(log, 2)) == [
        ([COMMIT, "ticket-7\n"], ["sites/a.yaml", "b"]),
        ([COMMIT, ""], []),
        ([COMMIT, ""], ["c"]),
    ]
    assert list(commits.read("", 2)) == []
