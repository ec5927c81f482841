"""Many calls come to a node at once: its mark is judged and written by one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

RUNNER = "aaaaaaaa-0000-0000-0000-000000000000"
COLLECTIONS = Path(__file__).resolve().parents[3] / "collections"
# Each waits for the word, so that none begins before all are there.
CALL = """
import json, sys
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._shell import operate
folder, deployment, runner, epoch = sys.argv[1:]
fence = {"runner": runner, "epoch": int(epoch), "seq": 1}
sys.stdin.readline()
answer = operate("install", {"deployment": deployment, "fence": fence}, False,
                 lambda call: None, Layout(folder + "/state", folder + "/run"))
print(json.dumps((answer["error"] or {}).get("code")))
"""


def _at_once(folder: Path, *callers: tuple[str, int]) -> list[str | None]:
    """What calls of these runners and epochs answer, each for a deployment of its own."""
    calls = [
        subprocess.Popen(
            [sys.executable, "-c", CALL, str(folder), str(uuid.uuid4()), runner, str(epoch)],
            env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for runner, epoch in callers
    ]
    for call in calls:
        assert call.stdin is not None
        call.stdin.write("\n")
        call.stdin.flush()
    return [json.loads(call.communicate(timeout=60)[0]) for call in calls]


def test_the_first_calls_of_a_runner_are_all_let_in(tmp_path: Path) -> None:
    """A new node is claimed by whichever call comes first, and the others find it claimed."""
    assert _at_once(tmp_path, *[(RUNNER, 1)] * 12) == [None] * 12

    claimed = json.loads((tmp_path / "state" / "fence.json").read_text())
    assert claimed == {"runner": RUNNER, "epoch": 1}


def test_the_highest_epoch_keeps_the_node(tmp_path: Path) -> None:
    """Whatever the order in which they came: a lower one neither stays nor comes back."""
    callers = [(str(uuid.uuid4()), epoch) for epoch in (3, 1, 4, 2)]

    codes = _at_once(tmp_path, *callers)

    runner, epoch = callers[2]
    claimed = json.loads((tmp_path / "state" / "fence.json").read_text())
    assert claimed == {"runner": runner, "epoch": epoch}
    assert codes[2] is None
    assert set(codes) <= {None, "other-runner"}
    assert not list((tmp_path / "state").rglob("*.tmp"))
