"""The forges as a table, in the order in which they are looked for.

The order is fixed and matters: Forgejo sends Gitea's headers too, Gitea those of Gogs and GitHub,
and GitLab can sign as Standard Webhooks does. Who is more particular comes first, and last who
has nothing of its own: Azure DevOps signs in with a password and says in the body what it is.
"""

from __future__ import annotations

from typing import Final

from webhook.forges.azure import AZURE_DEVOPS
from webhook.forges.bitbucket import BITBUCKET_CLOUD, BITBUCKET_DATA_CENTER
from webhook.forges.forge import Delivery, Forge, Move
from webhook.forges.gitea import FORGEJO, GITEA, GOGS
from webhook.forges.github import GITHUB
from webhook.forges.gitlab import GITLAB
from webhook.forges.standard import STANDARD

FORGES: Final[tuple[Forge, ...]] = (
    FORGEJO,
    GITEA,
    GOGS,
    GITHUB,
    GITLAB,
    BITBUCKET_CLOUD,
    BITBUCKET_DATA_CENTER,
    STANDARD,
    AZURE_DEVOPS,
)

__all__ = ["FORGES", "Delivery", "Forge", "Move"]
