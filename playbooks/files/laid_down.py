"""Lays down what a node told (JSON of standard input: name of a file, and what stands in it).

    python3 laid_down.py FOLDER

A node may be in wrong hands: what it calls a file never leads out of its folder.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def place(folder: Path, name: str, text: object) -> Path:
    """Where it goes; refused when that is elsewhere."""
    found = folder / name
    if folder not in found.parents or ".." in found.parts or not isinstance(text, str):
        raise SystemExit(f"{name}: no text in a file of the node's folder; nothing of it is kept")
    return found


def main() -> int:
    """Everything, readable for its owner alone; or nothing."""
    os.umask(0o077)
    told = json.load(sys.stdin)
    folder = Path(sys.argv[1])
    for path, text in [(place(folder, name, text), text) for name, text in told.items()]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
