"""The first page: the fleet at a glance, what needs somebody, what is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.pages.asking import ask
from controller.pages.frame import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.api.call import Call

TROUBLE: Final = ("failed", "rollback-failed", "rolled-back", "held")
AWAY: Final = ("unusable", "stale", "offline")
HELD: Final = ("paused", "drained", "locked", "halted")
NOT_AS_WANTED: Final = f"/deployments?outcome={','.join(TROUBLE)}"
NEEDS: Final = 15  # of what needs somebody, of all kinds together
# Where all of a kind are listed, and what more of them are called.
MORE: Final[Mapping[str, tuple[str, str]]] = {
    "halted": ("halted sites", "/sites?held=halted"),
    "trouble": ("deployments not as wanted", NOT_AS_WANTED),
    "request": ("requests that came to nothing", "/requests?state=failed,refused"),
    "waiting": ("requests that wait to be published", "/requests?state=queued"),
    "findings": ("sites whose documents have findings", "/sites?held=findings"),
    "silent": ("silent sites", "/sites?freshness=unknown"),
    "node": ("nodes that need attention", "/nodes"),
    "clock": ("sites whose clock is wrong", "/sites"),
    "locked": ("locked sites", "/sites?held=locked"),
    "paused": ("paused sites", "/sites?held=paused"),
    "window": ("deployments that wait for a window", "/deployments?outcome=pending"),
    "source": ("sources", "/sources"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A number beside a tile's own, with the list that it counts."""

    number: int
    words: str
    path: str


@dataclass(frozen=True, slots=True)
class Tile:
    """A number, what it counts, where it leads, and what it is made of."""

    number: int
    words: str
    path: str
    tone: str = ""
    sign: str = ""
    of: int | None = None
    parts: tuple[Part, ...] = ()


def shown(call: Call) -> str:
    """GET /."""
    told = ask(call, "GET", "/summary")
    outcomes, attention = _outcomes(told["deployments"]), _few(told)
    return render(
        "overview.html",
        told=told,
        attention=attention,
        outcomes=outcomes,
        total=sum(outcomes.values()),
        tiles=list(_tiles(told, outcomes)),
        more=list(_more(attention, told["needs"])),
        stale=_stale(told["sites"]),
    )


def _tiles(told: Mapping[str, Any], outcomes: Mapping[str, int]) -> Iterator[Tile]:
    yield from _of_deployments(told["deployments"], outcomes, told["unknown"])
    sites, nodes = told["sites"], told["nodes"]
    unheard = (sites["unknown"], "silent", "/sites?freshness=unknown")
    held = [(sites[one], one, f"/sites?held={one}") for one in HELD]
    warn = "warn" if sites["unknown"] else ""
    parts = _parts([unheard, *held])
    yield Tile(sites["fresh"], "sites heard of", "/sites", warn, of=sites["total"], parts=parts)
    failing = told["nodes_failing"]
    away = [(nodes[status], status, f"/nodes?status={status}") for status in AWAY]
    parts = _parts([(failing, "failed the last check", "/nodes?status=active"), *away])
    yield Tile(
        nodes["active"] - failing,
        "nodes active",
        "/nodes",
        "warn" if parts else "",
        of=sum(nodes.values()),
        parts=parts,
    )


def _of_deployments(
    states: Mapping[str, Mapping[str, int]], outcomes: Mapping[str, int], lost: Mapping[str, int]
) -> Iterator[Tile]:
    """What is not known to hold now is in no number of good news."""
    listed = "/deployments"
    of_state = [(sum(own.values()), one, f"{listed}?state={one}") for one, own in states.items()]
    yield Tile(sum(outcomes.values()), "deployments", listed, parts=_parts(of_state))
    for word, said, tone, sign in (
        ("succeeded", "as wanted", "good", "✓"),
        ("pending", "on the way", "busy", "…"),
    ):
        path, silent = f"{listed}?outcome={word}", lost.get(word, 0)
        parts = _parts([(silent, "last known, not heard of", path)])
        yield Tile(outcomes.get(word, 0) - silent, said, path, tone, sign, parts=parts)
    parts = _parts(
        [
            (outcomes.get(one, 0), one.replace("-", " "), f"{listed}?outcome={one}")
            for one in TROUBLE
        ]
    )
    number = sum(part.number for part in parts)
    yield Tile(number, "not as wanted", NOT_AS_WANTED, "bad" if parts else "", "▲", parts=parts)


def _parts(told: list[tuple[int, str, str]]) -> tuple[Part, ...]:
    return tuple(Part(*one) for one in told if one[0])


def _few(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As many as the page has room for, of each kind as many."""
    each = max(2, NEEDS // max(1, len(told["needs"])))
    shown: dict[str, int] = {}
    found = []
    for one in told["attention"]:
        shown[one["why"]] = shown.get(one["why"], 0) + 1
        if shown[one["why"]] <= each:
            found.append(one)
    return found


def _more(shown: list[dict[str, Any]], needs: Mapping[str, int]) -> Iterator[Part]:
    """How many need somebody beyond those that are shown."""
    for why, number in needs.items():
        beyond = number - sum(1 for one in shown if one["why"] == why)
        if beyond > 0 and why in MORE:
            yield Part(beyond, *MORE[why])


def _stale(sites: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Sites by how long they have been silent, as parts of a bar."""
    silence = sites["silence"]
    tones = ("warn", "warn", "unknown", "unknown")
    parts = [
        ("heard of", "good", sites["fresh"]),
        *(
            (f"silent for {word}", tone, silence[word])
            for word, tone in zip(silence, tones, strict=True)
        ),
        ("never heard of", "none", sites["never"]),
    ]
    return [part for part in parts if part[2]]


def _outcomes(states: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Numbers by outcome alone."""
    found: dict[str, int] = {}
    for own in states.values():
        for word, number in own.items():
            found[word] = found.get(word, 0) + number
    return found
