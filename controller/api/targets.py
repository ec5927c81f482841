"""Readable targets of audit entries: the deployments that a request concerns, by name and site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from controller.store import deployments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.store import Session

NAMED: Final = 5  # deployments: an entry is a line that a person reads


def of_deployments(session: Session, concerned: Sequence[tuple[str, str]]) -> str:
    """Return the names of deployments, given by id and site, each with its sites.

    One that is not known is named by its id.
    """
    some = sorted(concerned, key=lambda pair: (pair[1], pair[0]))[:NAMED]
    names = deployments.names(session, some)
    sites: dict[str, list[str]] = {}
    for deployment, site in some:
        sites.setdefault(names.get((deployment, site), deployment), []).append(site)
    text = "; ".join(f"{name} at {', '.join(at)}" for name, at in sites.items())
    more = len(concerned) - len(some)
    return f"{text} and {more} more" if more else text
