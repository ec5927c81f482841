"""The forges as a table, in the order in which they are looked for.

The order is fixed and matters: Forgejo sends Gitea's headers too, Gitea those of Gogs and GitHub,
and GitLab can sign as Standard Webhooks does. Who is more particular comes first.
"""

from __future__ import annotations

from typing import Final

from webhook.forges.forge import Delivery, Forge
from webhook.forges.gitea import FORGEJO, GITEA, GOGS
from webhook.forges.github import GITHUB
from webhook.forges.gitlab import GITLAB
from webhook.forges.standard import STANDARD

FORGES: Final[tuple[Forge, ...]] = (FORGEJO, GITEA, GOGS, GITHUB, GITLAB, STANDARD)

__all__ = ["FORGES", "Delivery", "Forge"]
