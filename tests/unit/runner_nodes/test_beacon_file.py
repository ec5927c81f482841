"""What `margrave node add` leaves in a node's beacon.json."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner.nodes import beacon_file, scripts


@pytest.mark.parametrize(
    ("there", "stays"),
    [
        (None, {}),
        ("{", {}),
        ("[1]", {}),
        ('{"key": "old", "ca_file": "/ca.pem"}', {"ca_file": "/ca.pem"}),
    ],
)
def test_what_an_operator_put_there_stays(
    tmp_path: Path, there: str | None, stays: dict[str, Any]
) -> None:
    """The runner's own words are written anew; a file that cannot be read is made anew."""
    file = tmp_path / "beacon.json"
    if there is not None:
        file.write_text(there)
    told = beacon_file.content("harbor-1", "https://runner.example", "new", 10)
    script = scripts.WRITE_BEACON.replace("/etc/margrave", str(tmp_path))
    subprocess.run(
        ["sh", "-c", script.replace("/usr/bin/python3", sys.executable)],
        input=beacon_file.text(told).encode(),
        check=True,
    )
    assert json.loads(file.read_text()) == told | stays
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["beacon.json"]
