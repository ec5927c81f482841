"""Looks around on a node, and tells as JSON what it saw: name of a file, and what stands in it.

    python3 looks.py '{"uptime": ["uptime"]}'

An engine's log quotes what it could not start; each release keeps beside its variables which texts
are secret, and none of them is told.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STATE = Path("/var/lib/margrave")
RECORDS = ("release.json", "journal.json", "fence.json")
# An engine that hangs is what somebody may be looking for.
SECONDS = 60
OVER = (124, 137)  # how `timeout` says that it was so


def secrets() -> list[str]:
    """What nothing may repeat, long ones first: one may be a part of another."""
    found: set[str] = set()
    for path in STATE.glob("deployments/*/releases/*/secrets.json"):
        try:
            found.update(json.loads(path.read_text(encoding="utf-8"))["texts"])
        except (OSError, ValueError, KeyError):
            continue  # a release that goes while it is looked at
    return sorted(found, key=len, reverse=True)


def masked(said: str, texts: list[str]) -> str:
    """The text without them, also where they are quoted."""
    for one in texts:
        for form in (one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]):
            said = said.replace(form, "[redacted]")
    return said


def seen(command: list[object]) -> str:
    """What a command says, or why it says nothing."""
    words = ["timeout", "--kill-after=5", SECONDS, *command]
    ran = subprocess.run([str(word) for word in words], capture_output=True, check=False)
    late = f"not ended within {SECONDS} s\n" if ran.returncode in OVER else ""
    return (ran.stdout + b"\n" + ran.stderr).decode("utf-8", "replace") + late


def written() -> dict[str, str]:
    """What deployments have written down; their values and secrets stand in other files."""
    found = {}
    for path in sorted(STATE.rglob("*.json")):
        if path.name in RECORDS and path.is_file() and not path.is_symlink():
            try:
                text = path.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue  # a deployment that goes while it is looked at
            found[str(path.relative_to(STATE))] = text
    return found


def main() -> int:
    """Look everywhere at once."""
    looks: dict[str, list[object]] = json.loads(sys.argv[1])
    with ThreadPoolExecutor(len(looks) or 1) as pool:
        going = {name: pool.submit(seen, command) for name, command in looks.items()}
        files = {f"{name}.txt": look.result() for name, look in going.items()}
    texts = secrets()  # after the looks: a release that began meanwhile has its own
    told = {name: masked(text, texts) for name, text in {**files, **written()}.items()}
    json.dump(told, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
