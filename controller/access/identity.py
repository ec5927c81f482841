"""An identity: who is asking, in which role, for which sites."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What somebody may do; each of viewer, operator, admin holds the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"
    SITE = "site"  # a runner: its own reports, heartbeats, site and repository, nothing else


USER_NAME: Final = r"[a-z0-9]([-a-z0-9._]{0,61}[a-z0-9])?"

_RANK: Final = {Role.VIEWER: 1, Role.OPERATOR: 2, Role.ADMIN: 3, Role.SITE: 0}


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks; `sites` is None where all sites are theirs."""

    name: str
    role: Role
    sites: frozenset[str] | None = None
    token: str | None = None  # the id of a token that speaks for itself, not for a person

    @property
    def holder(self) -> str:
        """Who asks, told apart from others of the same name: names of tokens are free to choose."""
        return f"token {self.token}" if self.token else self.name

    @property
    def actor(self) -> str:
        """The name that audit, requests and commits carry."""
        return self.name

    @property
    def has_all_sites(self) -> bool:
        """Whether no site is out of reach, those to come included."""
        return self.sites is None

    @property
    def is_site(self) -> bool:
        """Whether a runner asks."""
        return self.role is Role.SITE

    def may(self, needs: Role) -> bool:
        """Whether this role holds the one needed."""
        if self.is_site or needs is Role.SITE:
            return self.role is needs
        return _RANK[self.role] >= _RANK[needs]

    def may_give(self, sites: object) -> bool:
        """Whether somebody may be given these sites: nobody gives more than is theirs."""
        if self.sites is None:
            return True
        return isinstance(sites, list) and self.sites.issuperset(sites)

    def sees(self, site: str) -> bool:
        """Whether the site is theirs."""
        return self.sites is None or site in self.sites
