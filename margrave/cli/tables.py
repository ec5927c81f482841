"""Answers as tables for eyes: what each resource shows, and in which words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from margrave import quantities
from margrave.terminal.cells import Cell, Columns, Resource, field, pick, words


def short(name: str) -> Cell:
    """The beginning of an id or digest, enough to name it."""

    def get(row: Resource) -> object:
        value = field(name)(row)
        return str(value).removeprefix("sha256:")[:12] if value else None

    return get


def state(row: Resource) -> object:
    """The state, marked when it is only the last known one."""
    mark = "?" if row.get("freshness") == "unknown" else ""
    return f"{row.get('state') or '-'}{mark}"


def trouble(row: Resource) -> object:
    """Why it is not as wished: the error, else what is waited for, else the reason."""
    error, waiting = row.get("error"), row.get("waiting")
    if isinstance(error, Mapping):
        cure = f" ({error['cure']})" if error.get("cure") else ""
        return f"{error.get('class')}: {error.get('message')}{cure}"
    if isinstance(waiting, Mapping) and waiting.get("for"):
        until = f" until {words(waiting['until'])}" if waiting.get("until") else ""
        return f"waiting for {waiting['for']}{until}"
    return row.get("reason") or error


def step_reason(row: Resource) -> object:
    """Why a step of the history was made; the error belongs to the step that failed."""
    return trouble(row) if row.get("to") == "FAILED" else row.get("reason")


def held(row: Resource) -> object:
    """What keeps a site from working, the gravest first, with its reason."""
    for word in ("halted", "locked", "paused"):
        if isinstance(found := row.get(word), Mapping):
            return f"{word}: {found.get('reason') or 'no reason given'}"
    return None


def applied(row: Resource) -> object:
    """Return the commit that a site has applied, marked while it lacks the wanted one."""
    found = short("applied_commit")(row)
    return f"{found}…" if found and is_behind(row) else found


def is_behind(site: Resource) -> bool:
    """Whether a site lacks what Git wants there; an older controller reports the commits alone."""
    known = site.get("behind")
    if known is None:
        return bool(site.get("wanted_commit") != site.get("applied_commit"))
    return bool(known)


def where(row: Resource) -> object:
    """A node with its site."""
    return f"{row.get('site')}/{row.get('node')}" if row.get("node") else row.get("site")


def sites_of(row: Resource) -> object:
    """The sites that a token or a person has: by name, by label, or all."""
    sites = row.get("sites")
    if isinstance(sites, Mapping):
        return "where " + words(sites.get("matchLabels") or sites)
    return sites if sites else "all"


def _step(row: Resource) -> object:
    return f"{row.get('from') or '-'} > {row.get('to')}"


DEPLOYMENTS: Final[Columns] = [
    ("ID", short("id")),
    *pick("name", "site", "app", "version"),
    ("STATE", state),
    *pick("outcome", "updated_at"),
]
PLACEMENTS: Final[Columns] = [
    ("NODE", where),
    ("STATE", state),
    *pick("outcome", "version"),
    ("WANTED", field("wanted_version")),
    *pick("health", "attempt"),
    ("SINCE", field("since")),
    ("WHY", trouble),
]
HISTORY: Final[Columns] = [
    ("AT", field("at")),
    ("NODE", where),
    ("STATE", _step),
    *pick("version", "actor", "attempt"),
    ("WHY", step_reason),
]
APPS: Final[Columns] = [*pick("id", "name", "version", "versions", "source"),
    ("FINDINGS", lambda row: len(row.get("findings") or []) or None)]  # fmt: skip
SITES: Final[Columns] = [
    *pick("name", "freshness", "nodes", "deployments"),
    ("HELD", held),
    ("APPLIED", applied),
    *pick("last_seen"),
]
NODES: Final[Columns] = [
    *pick("site", "name", "address", "status", "drain", "labels"),
    ("ARCH", field("capabilities.architecture")),
    *pick("last_seen"),
    ("WHY", field("reason")),
]
SOURCES: Final[Columns] = [
    *pick("name", "url", "ref", "path"),
    ("COMMIT", short("commit")),
    *pick("synced_at", "error"),
]
FINDINGS: Final[Columns] = [
    ("SEVERITY", lambda row: row.get("severity") or "error"),
    *pick("file", "line", "pointer"),
    ("FINDING", lambda row: row.get("message") or row.get("detail")),
    *pick("cure"),
]
STEPS: Final[Columns] = pick("step", "ok", "detail", "at")
LOOKS: Final[Columns] = [
    ("OK", lambda row: "yes" if row["ok"] else "NO"),
    *pick("where", "name", "detail", "cure"),
]
CHECKS: Final[Columns] = pick("name", "ok", "detail", "cure")
PLAN: Final[Columns] = [
    *pick("name"),
    ("NODE", where),
    *pick("action", "from", "to"),
    ("BATCH", field("strategy.batch")),
    ("FETCHES", lambda row: quantities.for_people(row.get("bytes"))),
    *pick("why", "waiting"),
]
DRAIN: Final[Columns] = [
    *pick("name"),
    ("NODE", where),
    *pick("action"),
    ("VERSION", lambda row: row.get("from") or row.get("to")),
    *pick("why", "waiting"),
]
TOKENS: Final[Columns] = [
    *pick("id", "name", "role"),
    ("SITES", sites_of),
    *pick("created_at", "expires_at", "last_used_at"),
]
USERS: Final[Columns] = [
    *pick("name", "role"),
    ("SITES", sites_of),
    *pick("disabled", "created_at"),
]
