# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parameters of many hosts in one file: a line for each, the host's name before a tab and JSON.

A runner keeps this file in memory, where one descriptor serves all hosts of a run. Each worker
parses the line of its own host alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def dump(parameters: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the file's content for these hosts."""
    lines = (f"{host}\t{json.dumps(dict(one))}\n" for host, one in parameters.items())
    return "".join(lines).encode()


def load(path: Path, host: str) -> Any:
    """Return what the file, or the file of the host in a folder, holds for the host.

    Raise OSError or ValueError where it cannot be read.
    """
    if path.is_dir():
        return json.loads((path / f"{host}.json").read_text(encoding="utf-8"))
    _before, mark, line = (b"\n" + path.read_bytes()).partition(f"\n{host}\t".encode())
    if not mark:
        raise ValueError(f"no line for {host}")
    return json.loads(line.partition(b"\n")[0])
