"""How states, outcomes and times are told to people: a sign and a word, colour only beside them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup, escape

from margrave import quantities

# (sign, tone, word): what rolled back is a warning, never a success; what is unknown is grey.
OUTCOMES: Final = {
    "succeeded": ("✓", "good", "succeeded"),
    "rolled-back": ("↩", "warn", "rolled back"),
    "rollback-failed": ("✕", "bad", "rollback failed"),
    "failed": ("✕", "bad", "failed"),
    "held": ("‖", "held", "held"),
    "pending": ("…", "busy", "pending"),
}
STATES: Final = {
    "INSTALLED": ("●", "rest"),
    "PENDING": ("○", "busy"),
    "INSTALLING": ("◐", "busy"),
    "UPDATING": ("◐", "busy"),
    "ROLLINGBACK": ("◐", "warn"),
    "DELETING": ("◐", "busy"),
    "DELETED": ("◌", "quiet"),
    "FAILED": ("▲", "bad"),
}
STATUSES: Final = {
    "active": ("●", "good"),
    "stale": ("◔", "warn"),
    "unusable": ("▲", "bad"),
    "offline": ("○", "quiet"),
    "fresh": ("●", "good"),
    "unknown": ("?", "quiet"),
}
# Requests, operations and what runners say of health.
WORK: Final = {
    "queued": ("○", "busy"),
    "publishing": ("◐", "busy"),
    "published": ("✓", "good"),
    "refused": ("✕", "bad"),
    "cancelled": ("‖", "held"),
    "failed": ("✕", "bad"),
    "running": ("◐", "busy"),
    "waiting": ("…", "busy"),
    "succeeded": ("✓", "good"),
    "healthy": ("✓", "good"),
    "degraded": ("▲", "warn"),
    "unknown": ("?", "quiet"),
    "done": ("✓", "good"),
}
# What a page begins with after a form did its work.
DONE: Final = {
    "pause": "The site is paused: nothing is installed, updated or deleted there until it goes on.",
    "resume": "The site goes on.",
    "drain": "It is being drained: what may move moves, what may not is stopped.",
    "undrain": "It is used again.",
    "reload": "The runner has been told to look again.",
    "accept": "The runner has been told to accept that commit.",
    "main-accepted": "What main says now is followed.",
    "forget": "The runner has been told to forget the node.",
    "site-added": "The site is in Git. Give its runner the token below.",
    "site-removed": "The site is gone.",
    "synced": "The source was read.",
    "source-added": "The source is known. Sync it to read its applications.",
    "source-removed": "The source is gone; what deployments use was kept.",
    "token-revoked": "The token opens nothing any more.",
    "user-added": "They can sign in now.",
    "user-changed": "Changed.",
    "user-removed": "They cannot sign in any more.",
    "taken-back": "The request was taken back before it was published.",
}
NOTHING: Final = Markup('<span class="none">\N{EN DASH}</span>')
_STAMP: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"))


def outcome(word: str) -> Markup:
    """An outcome as a badge."""
    sign, tone, text = OUTCOMES.get(word, ("?", "quiet", word))
    return _badge(sign, tone, text)


def state(word: str) -> Markup:
    """A state as a badge."""
    sign, tone = STATES.get(word, ("?", "quiet"))
    return _badge(sign, tone, word)


def status(word: str) -> Markup:
    """How fresh something is, as a badge."""
    sign, tone = STATUSES.get(word, ("?", "quiet"))
    return _badge(sign, tone, word)


def work(word: str | None) -> Markup:
    """The state of a request, an operation or a health check, as a badge."""
    sign, tone = WORK.get(word or "", ("?", "quiet"))
    return _badge(sign, tone, word or "unknown")


def seconds(number: float | None) -> str:
    """A duration as people read it."""
    if number is None:
        return "\N{EN DASH}"
    if number < 60:
        return f"{number:.1f} s" if number < 10 else f"{number:.0f} s"
    whole = round(number)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def ago(text: str | None, now: datetime) -> Markup:
    """How long ago, with the exact time on hover; the script keeps it going."""
    if not text:
        return Markup('<span class="none">never</span>')
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(text, _distance(text, now))


def clock(text: str | None, now: datetime) -> Markup:
    """The time of day in UTC, or the date when that was not today; the exact time on hover."""
    if not text:
        return NOTHING
    return Markup('<time class="clock" datetime="{0}" title="{0}">{1}</time>').format(
        text, text[11:19] if now.isoformat()[:10] == text[:10] else text[:10]
    )


def moment(text: str | None, now: datetime) -> Markup:
    """When something is to be: the time in UTC, with the date when that is not today."""
    if not text:
        return NOTHING
    told = text[11:16] if now.isoformat()[:10] == text[:10] else f"{text[:10]} {text[11:16]}"
    return Markup('<time class="moment" datetime="{0}" title="{0}">{1}</time>').format(text, told)


def timed(text: str | None, now: datetime) -> Markup:
    """A sentence with the times in it as times, so that they are told in the reader's zone."""
    made, end = Markup(""), 0
    for found in _STAMP.finditer(text or ""):
        made += escape((text or "")[end : found.start()]) + moment(found[0], now)
        end = found.end()
    return made + escape((text or "")[end:])


def short(text: str | None, size: int = 12) -> Markup:
    """A digest or commit, shortened, whole on hover."""
    if not text:
        return NOTHING
    bare = text.removeprefix("sha256:")
    return Markup('<code title="{0}">{1}</code>').format(text, bare[:size])


def said(value: Any) -> str:
    """A value as people write it: text as it is, everything else as JSON."""
    if isinstance(value, list):
        return ", ".join(said(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pairs(values: dict[str, Any] | None) -> Markup:
    """Labels or parameters, one chip each."""
    chips = [
        Markup('<span class="chip"><b>{}</b> {}</span>').format(key, said(value))
        for key, value in sorted((values or {}).items())
    ]
    return Markup(" ").join(chips) if chips else Markup('<span class="none">none</span>')


def sites_of(sites: Any) -> str:
    """Which sites a person or a token has: by name, by labels, or all."""
    if sites is None:
        return "all"
    if isinstance(sites, list):
        return ", ".join(sites) or "none"
    labels = [f"{key}={value}" for key, value in sorted((sites.get("matchLabels") or {}).items())]
    for one in sites.get("matchExpressions") or ():
        values = f" ({', '.join(one['values'])})" if one.get("values") else ""
        labels.append(f"{one['key']} {one['operator']}{values}")
    return f"where {', '.join(labels)}" if labels else "all"


def limits(sites: Any) -> str | None:
    """The same as they are typed; None for what has no words in a field."""
    if sites is None:
        return ""
    if isinstance(sites, list):
        return " ".join(sites)
    if sites.get("matchExpressions"):
        return None
    return " ".join(f"{key}={one}" for key, one in sorted(sites.get("matchLabels", {}).items()))


def engines(listed: Any) -> str:
    """Container engines by name, however much was told of them."""
    names = [one.get("name") if isinstance(one, dict) else one for one in listed or ()]
    return ", ".join(str(name) for name in names)


def size(number: Any) -> str:
    """Bytes as people read them."""
    return quantities.for_people(number) or "\N{EN DASH}"


def _badge(sign: str, tone: str, text: str) -> Markup:
    return Markup(
        '<span class="badge {}"><span class="sign" aria-hidden="true">{}</span>{}</span>'
    ).format(escape(tone), sign, text)


def _distance(text: str, now: datetime) -> str:
    at = datetime.fromisoformat(text).astimezone(UTC)
    seconds = int((now - at).total_seconds())
    if seconds < 5:
        return "just now"
    for step, unit in _STEPS:
        if seconds >= step:
            return f"{seconds // step} {unit} ago"
    return f"{seconds} s ago"


HELPERS: Final = {
    "state": state,
    "outcome": outcome,
    "status": status,
    "work": work,
    "short": short,
    "pairs": pairs,
    "said": said,
    "sites_of": sites_of,
    "limits": limits,
    "size": size,
    "engines": engines,
    "seconds": seconds,
}
