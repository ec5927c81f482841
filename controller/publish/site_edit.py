"""Change of a site's document as a value: it can wait on disk, and be made later."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from controller.merging import merged
from margrave import yaml_text
from margrave.documents.site import read_site, render_site
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class SiteEdit:
    """A JSON merge patch of a site's document; keys in `replaced` begin empty."""

    site: str
    title: str
    actor: str
    trace: str
    at: str  # when it was asked for
    patch: Mapping[str, Any]
    replaced: tuple[str, ...] = ()
    deed: Mapping[str, Any] | None = field(default=None)  # the audit's entry

    def applied(self, old: dict[str, Any]) -> dict[str, Any]:
        """Return the changed document, without entries of nodes that became empty."""
        kept = {key: value for key, value in old.items() if key not in self.replaced}
        new: dict[str, Any] = merged(kept, self.patch)
        nodes = new.get("nodes")
        for node in self.patch.get("nodes") or ():
            if nodes and not nodes.get(node):
                nodes.pop(node, None)
        if nodes == {}:
            new.pop("nodes")
        return new

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the edit of JSON values."""
        return cls(**{**value, "replaced": tuple(value["replaced"])})


def on_text(
    site: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Callable[[bytes | None], bytes | None]:
    """Return a change of a site's document as a change of its text."""

    def apply(old: bytes | None) -> bytes | None:
        raw = yaml_text.parse(old, f"sites/{site}.yaml").value if old is not None else {}
        new = change(raw)
        return None if new is None else checked(new)

    return apply


def checked(value: Mapping[str, Any]) -> bytes:
    """Return the document's text; findings point into the request, where no lines are."""
    data = render_site(value)
    try:
        read_site(data)
    except DocumentError as error:
        raise DocumentError(replace(one, line=0, column=0) for one in error.findings) from error
    return data
