"""The first page: the fleet at a glance, what needs somebody, what is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.pages.asking import ask
from controller.pages.frame import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.api.call import Call

TROUBLE: Final = ("failed", "rollback-failed", "rolled-back", "held")


def shown(call: Call) -> str:
    """GET /."""
    told = ask(call, "GET", "/summary")
    outcomes = _outcomes(told["deployments"])
    silence = told["sites"]["silence"]
    tones = ("warn", "warn", "unknown", "unknown")
    stale = [
        ("heard of", "good", told["sites"]["fresh"]),
        *(
            (f"silent for {word}", tone, silence[word])
            for word, tone in zip(silence, tones, strict=True)
        ),
        ("never heard of", "none", told["sites"]["never"]),
    ]
    return render(
        "overview.html",
        told=told,
        outcomes=outcomes,
        total=sum(outcomes.values()),
        trouble=sum(outcomes.get(word, 0) for word in TROUBLE),
        stale=[part for part in stale if part[2]],
    )


def _outcomes(states: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Numbers by outcome alone."""
    found: dict[str, Any] = {}
    for own in states.values():
        for word, number in own.items():
            found[word] = found.get(word, 0) + number
    return found
