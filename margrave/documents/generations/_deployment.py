"""Deployments before rc.2: a Kubernetes head, and ids among the annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margrave.documents.generations._kinds import Generation, Kind
from margrave.documents.generations._profiles import (
    change_pointers,
    change_profile,
    component_names,
)

if TYPE_CHECKING:
    from margrave.documents.generations._draft import Draft

_SINCE = "rc.2"
_PROFILE = ("spec", "deploymentProfile")
_ANNOTATIONS = ("metadata", "annotations")


def change(draft: Draft) -> Generation:
    """Makes the mechanical changes."""
    oldest = draft.at(*_ANNOTATIONS, "id") is not None
    draft.drop_head(Kind.DEPLOYMENT, _SINCE)
    if oldest and "id" not in draft.value:
        draft.move((*_ANNOTATIONS, "id"), ("id",), f"stands at the top since {_SINCE}")
    named = draft.at(*_ANNOTATIONS, "applicationId") is not None
    if named and draft.at("spec", "applicationId") is None:
        message = f"stands in the specification since {_SINCE}"
        draft.move((*_ANNOTATIONS, "applicationId"), ("spec", "applicationId"), message)
    draft.drop_empty(_ANNOTATIONS)
    if draft.at(*_ANNOTATIONS) is not None:
        draft.leave(_ANNOTATIONS, f"is gone since {_SINCE}", "move what matters to metadata.labels")
    oldest |= isinstance(draft.at(*_PROFILE), dict) and change_profile(draft, _PROFILE)
    if draft.at(*_PROFILE, "type") == "compose":
        change_pointers(draft, ("spec",), set(component_names(draft.value, *_PROFILE)))
    return Generation.LEGACY if oldest else Generation.PRE_RC2
