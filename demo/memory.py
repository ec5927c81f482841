"""What the demo remembers between two calls, readable for its owner alone."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Memory:
    """Credentials and what has been done; filled step by step."""

    user: str = ""
    password: str = ""
    token: str = ""
    signing_key: str = ""
    webhook_secret: str = ""
    site_tokens: dict[str, str] = field(default_factory=dict)
    host_keys: dict[str, str] = field(default_factory=dict)  # of the nodes that were added
    deployed: bool = False


def load(path: Path) -> Memory:
    """What was kept, or a new memory with a secret of its own."""
    try:
        return Memory(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Memory(webhook_secret=secrets.token_urlsafe(32))


def keep(path: Path, memory: Memory) -> None:
    """The whole memory, or the old one if we are killed meanwhile."""
    write_private(path, json.dumps(asdict(memory), indent=2) + "\n")


def write_private(path: Path, text: str) -> bool:
    """The file with this text and mode 0600; whether it was different before."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
    return True
