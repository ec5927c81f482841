"""Which controller, and as whom: the environment first, else a context that `login` kept."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from margrave.errors import MargraveError, NotFound
from margrave.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where click's context keeps what `--context` said.
CONTEXT = "margrave.context"
DEFAULT_URL = "http://127.0.0.1:8800"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Account:
    """A controller's URL, a token for it, and the files of what it is shown; all but the URL may
    be empty."""

    url: str
    token: str = ""
    cert: str = ""
    key: str = ""

    @property
    def pair(self) -> tuple[Path, Path] | None:
        """Certificate and key, or None."""
        return (Path(self.cert), Path(self.key)) if self.cert else None


@dataclass(frozen=True, slots=True)
class Contexts:
    """The controllers that this user has signed in at, by name, and the one in use."""

    current: str = ""
    known: Mapping[str, Account] = field(default_factory=dict)

    def get(self, name: str) -> Account:
        """The account of that name; NotFound names those there are."""
        found = self.known.get(name)
        if found is None:
            cure = did_you_mean(name, self.known) or "there are none: margrave login URL"
            raise NotFound(f"no context is called {name!r}", cure)
        return found

    def using(self, name: str) -> Contexts:
        """The same with that one in use."""
        self.get(name)
        return replace(self, current=name)

    def with_account(self, name: str, account: Account) -> Contexts:
        """The account kept under that name, and in use."""
        return Contexts(name, {**self.known, name: account})

    def without(self, name: str) -> Contexts:
        """That one forgotten; when it was in use none is."""
        self.get(name)
        kept = {one: account for one, account in self.known.items() if one != name}
        return Contexts("" if self.current == name else self.current, kept)


def chosen(wanted: str = "") -> Account:
    """The account to use.

    A context asked for by name is that one; else MARGRAVE_URL and MARGRAVE_TOKEN win over the
    context in use, and so do MARGRAVE_CERT and MARGRAVE_KEY. A kept token is only sent to the URL
    it was made for.
    """
    name = wanted or os.environ.get("MARGRAVE_CONTEXT", "")
    if name:
        return load().get(name)
    contexts = load()
    in_use = contexts.known.get(contexts.current, Account(""))
    url = check_url(os.environ.get("MARGRAVE_URL") or in_use.url or DEFAULT_URL)
    kept = kept_for(url, contexts)
    token = os.environ.get("MARGRAVE_TOKEN") or kept.token
    return with_pair(Account(url, token), kept)


def is_chosen(wanted: str = "") -> bool:
    """Whether anybody has said which controller is meant: here, in the environment, by login."""
    named = ("MARGRAVE_CONTEXT", "MARGRAVE_URL", "MARGRAVE_TOKEN")
    return bool(wanted or any(os.environ.get(one) for one in named) or load().current)


def kept_for(url: str, contexts: Contexts) -> Account:
    """What is kept for that URL, of the context in use first; without any nothing but the URL."""
    in_use = contexts.known.get(contexts.current)
    others = [account for _, account in sorted(contexts.known.items())]
    found = [one for one in (in_use, *others) if one is not None and one.url == url]
    return found[0] if found else Account(url)


def with_pair(account: Account, kept: Account, cert: str = "", key: str = "") -> Account:
    """The account with the certificate and key that are named, else with those of the environment,
    else with those that are kept."""
    given = (cert, key), (os.environ.get("MARGRAVE_CERT", ""), os.environ.get("MARGRAVE_KEY", ""))
    for one in given:
        if any(one):
            if not all(one):
                raise MargraveError("a certificate and its key belong together", "name both")
            files = [str(Path(name).expanduser().absolute()) for name in one]
            return replace(account, cert=files[0], key=files[1])
    return replace(account, cert=kept.cert, key=kept.key)


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


def name_for(url: str) -> str:
    """What a context is called whose user gave it no name: host, and port where there is one."""
    return urlsplit(url).netloc.rpartition("@")[2]


def where() -> Path:
    """The file in the user's own configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "margrave" / "contexts.json"


def load() -> Contexts:
    """What is kept; nothing when nobody has signed in."""
    path = where()
    try:
        return _read(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Contexts()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise MargraveError(
            f"{path}: cannot be read: {error}", "remove it and sign in again: margrave login URL"
        ) from error


def _read(value: dict[str, Any]) -> Contexts:
    known = {
        str(name): Account(
            str(one["url"]), str(one["token"]), str(one.get("cert", "")), str(one.get("key", ""))
        )
        for name, one in value["contexts"].items()
    }
    return Contexts(str(value["current"]), known)


def keep(contexts: Contexts) -> Path:
    """Written so that nobody else can read it at any moment."""
    path = where()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    accounts = {name: asdict(account) for name, account in contexts.known.items()}
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"current": contexts.current, "contexts": accounts}, file, indent=2)
    draft.replace(path)
    return path
