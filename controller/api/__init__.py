"""What the controller answers over HTTP, as one table of routes.

Lives here: reading requests (bodies, cursors, who is asking), the handlers of each resource, and
the shape of every error. May use: margrave, flask, and the controller's other rooms through the
parts that app.py hands over. Never: SQL, Git, templates.
"""

from controller.api import (
    actions,
    apps,
    artifacts,
    audit,
    changes,
    configured,
    deployments,
    events,
    explain,
    keys,
    meta,
    nodes,
    operations,
    policy,
    repository,
    revisions,
    runner,
    sites,
    sources,
    summary,
    tokens,
    users,
)

ROUTES = (
    *meta.ROUTES,
    *keys.ROUTES,
    *configured.ROUTES,
    *summary.ROUTES,
    *changes.ROUTES,
    *apps.ROUTES,
    *sources.ROUTES,
    *repository.ROUTES,
    *sites.ROUTES,
    *policy.ROUTES,
    *nodes.ROUTES,
    *deployments.ROUTES,
    *revisions.ROUTES,
    *explain.ROUTES,
    *actions.ROUTES,
    *operations.ROUTES,
    *artifacts.ROUTES,
    *events.ROUTES,
    *audit.ROUTES,
    *tokens.ROUTES,
    *users.ROUTES,
    *runner.ROUTES,
)
