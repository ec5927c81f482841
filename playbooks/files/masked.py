"""Runs a command, and says what it says without the secrets that releases on this node use.

    python3 masked.py COMMAND [WORD …]

An engine's log quotes what it could not start; each release keeps beside its variables which texts
are secret.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RELEASES = Path("/var/lib/margrave/deployments")


def texts() -> list[str]:
    """What nothing may repeat, long ones first: one may be a part of another."""
    found: set[str] = set()
    for path in RELEASES.glob("*/releases/*/secrets.json"):
        try:
            found.update(json.loads(path.read_text(encoding="utf-8"))["texts"])
        except (OSError, ValueError, KeyError):
            continue  # a release that goes while it is looked at
    return sorted(found, key=len, reverse=True)


def masked(said: str) -> str:
    """The text without them, also where they are quoted."""
    for one in texts():
        for form in (one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]):
            said = said.replace(form, "[redacted]")
    return said


def main() -> int:
    """Run it; its exit status is ours."""
    ran = subprocess.run(sys.argv[1:], capture_output=True, check=False)
    sys.stdout.write(masked(ran.stdout.decode("utf-8", "replace")))
    sys.stderr.write(masked(ran.stderr.decode("utf-8", "replace")))
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
