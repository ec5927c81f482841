"""How a step would go: in which batches, when it may begin, how long it takes. Pure."""

from __future__ import annotations

import math
from datetime import UTC
from typing import TYPE_CHECKING, Any

from margrave import windows
from margrave.documents.extensions import stored
from margrave.documents.site import SitePart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from controller.store.world import SiteView, Standing
    from margrave.documents.deployment import Deployment
    from margrave.documents.extensions import Window


def strategy(document: Deployment, needs: Mapping[str, Any]) -> dict[str, Any]:
    """How a node goes from one to the other, and what forces that."""
    wanted = document.extensions.strategy
    return {"update": wanted.update, "batch": wanted.batch, "why": _why(document, needs)}


def _why(document: Deployment, needs: Mapping[str, Any]) -> str:
    if document.profile_type != "compose":
        return "the engine starts the new one beside the old one where it can"
    ports = ", ".join(needs.get("ports", ()))
    held = f"one at a time can hold port {ports}" if ports else "its volumes and names are its own"
    return f"the old one stops before the new one starts: {held}"


def batches(size: str | int, nodes: Sequence[str]) -> list[list[str]]:
    """Nodes in the order in which they are reached; each batch is healthy before the next."""
    whole, text = list(nodes), str(size)
    if not whole or text == "all":
        return [whole] if whole else []
    if text == "canary":
        return [whole[:1], whole[1:]] if len(whole) > 1 else [whole]
    wide = max(1, math.ceil(len(whole) * int(text[:-1]) / 100)) if text.endswith("%") else int(text)
    return [whole[start : start + wide] for start in range(0, len(whole), wide)]


def closed(
    site: SiteView, document: Deployment | None, standing: Standing | None, now: datetime
) -> dict[str, Any] | None:
    """What waits for a window, and until when; None when all are open or it is urgent."""
    if document is not None:
        ours = document.extensions
    else:
        known = standing.extensions if standing and standing.in_git else {}
        ours = stored(known)
    if ours.priority == "urgent":
        return None
    part = SitePart.model_validate(
        {key: site.document[key] for key in ("windows", "timezone") if key in site.document}
    )
    return _until([ours.windows, part.windows], part.timezone, now)


def _until(both: Sequence[Sequence[Window]], zone: str, now: datetime) -> dict[str, Any] | None:
    shut = [one for one in both if not windows.open_at(one, now, zone)]
    if not shut:
        return None
    opens = [windows.next_opening(one, now, zone) for one in shut]
    known = [one for one in opens if one is not None]
    until = max(known).astimezone(UTC).isoformat().replace("+00:00", "Z") if known else None
    return {"for": "window", "until": until}


def lasts(shown: Mapping[str, Any], typical: Mapping[str, float]) -> float | None:
    """Seconds that a site's part of a plan takes, by what its like took before; None unknown."""
    of_node = {one["node"]: typical.get(one["action"]) for one in shown["nodes"]}
    if not of_node or any(seconds is None for seconds in of_node.values()):
        return None
    in_turn = shown["batches"] or [list(of_node)]
    total = sum(max((of_node.get(name) or 0.0) for name in batch) for batch in in_turn if batch)
    return round(total, 1)
