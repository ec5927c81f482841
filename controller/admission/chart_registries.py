"""Registries of a chart and its images, checked before a node renders it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrave.policy import Finding
from margrave.policy.compose_values import Policy, registry_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def refused_registries(
    repository: str | None, images: Iterable[str], policy: Mapping[str, Any]
) -> Iterator[Finding]:
    """Return the registries that the policy does not name.

    `repository` is the chart's own, or None where Git delivers it.
    """
    named = [("values.yaml", image) for image in images]
    if repository:
        named.insert(0, ("repository", repository.removeprefix("oci://")))
    for where, image in named:
        registry = registry_of(image)
        if image and not Policy(policy).matches("registries", registry):
            yield Finding(where, f"registry {registry} is not in registries", "registries")
