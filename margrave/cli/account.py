"""Which controller, and as whom: the environment first, else what `margrave login` kept."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from margrave.errors import MargraveError

DEFAULT_URL = "http://127.0.0.1:8800"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Account:
    """A controller's URL and a token for it; the token may be empty."""

    url: str
    token: str


def folder() -> Path:
    """The user's own configuration folder of this command."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "margrave"


def current() -> Account:
    """MARGRAVE_URL and MARGRAVE_TOKEN win; a kept token is only sent to the URL it is for."""
    kept = _kept()
    url = (os.environ.get("MARGRAVE_URL") or kept.url or DEFAULT_URL).rstrip("/")
    token = os.environ.get("MARGRAVE_TOKEN") or (kept.token if kept.url == url else "")
    return Account(check_url(url), token)


def check_url(url: str) -> str:
    """The URL itself, or an error that says how one looks."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise MargraveError(f"{url!r} is no URL of a controller", "write https://host[:port]")
    return url.rstrip("/")


def in_clear(url: str) -> bool:
    """Whether a token sent there could be read on the way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


def _kept() -> Account:
    path = folder() / "login.json"
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return Account(str(value["url"]), str(value["token"]))
    except FileNotFoundError:
        return Account("", "")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MargraveError(f"{path}: cannot be read: {error}", "margrave login URL") from error


def keep(account: Account) -> Path:
    """Written so that nobody else can read it at any moment."""
    path = folder() / "login.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"url": account.url, "token": account.token}, file)
    draft.replace(path)
    return path
