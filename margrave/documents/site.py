"""A site's own document, `sites/<site>.yaml`: labels, windows, policy, pause and drain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from margrave import yaml_text
from margrave.documents._fields import Label, Moment, TimeZone
from margrave.documents._reading import Part, findings_of
from margrave.documents.extensions import Defaults, Policy, Window
from margrave.errors import DocumentError


class Paused(Part):
    """Why, by whom and until when nothing new is started at the site."""

    reason: str
    by: str
    until: Moment | None = None


class NodeWish(Part):
    """What the document wants of one node."""

    drain: bool = False


class SitePart(Part):
    """The whole document; each key is optional."""

    labels: dict[str, str] = {}
    timezone: TimeZone = "UTC"
    windows: list[Window] = []
    policy: Policy = Policy()
    paused: Paused | None = None
    drain: bool = False
    nodes: dict[Label, NodeWish] = {}
    defaults: Defaults = Defaults()


@dataclass(frozen=True)
class SiteDocument:
    """A checked site document; a site without one has all the defaults."""

    part: SitePart = field(default_factory=SitePart)
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> Mapping[str, str]:
        """What selectors choose the site by."""
        return self.part.labels

    @property
    def timezone(self) -> str:
        """The zone of windows that name none."""
        return self.part.timezone

    @property
    def windows(self) -> tuple[Window, ...]:
        """When work may start; none means always."""
        return tuple(self.part.windows)

    @property
    def policy(self) -> Policy:
        """How far packages may reach."""
        return self.part.policy

    @property
    def paused(self) -> Paused | None:
        """Set while nothing new may start."""
        return self.part.paused

    @property
    def drain(self) -> bool:
        """Whether the whole site is drained."""
        return self.part.drain

    @property
    def defaults(self) -> Defaults:
        """What holds where a deployment is silent."""
        return self.part.defaults

    def drains(self, node: str) -> bool:
        """Whether the node is drained, by itself or with its site."""
        return self.drain or (node in self.part.nodes and self.part.nodes[node].drain)


def read_site(data: bytes | str, file: str = "") -> SiteDocument:
    """The checked document, or DocumentError with every finding."""
    parsed = yaml_text.parse(data, file)
    part, findings = findings_of(parsed, SitePart)
    if findings or part is None:
        raise DocumentError(findings)
    return SiteDocument(part, parsed.value)


def render_site(value: Mapping[str, Any]) -> bytes:
    """The document's one text."""
    return yaml_text.dump(dict(value)).encode()
