"""Policy of a site: what applications and deployments need from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.admission.policy_review import PolicyReview
from controller.api.routes import Route
from controller.api.sites import find
from controller.publish.materials import Materials
from controller.store import world

if TYPE_CHECKING:
    from controller.api.call import Call


def reviewed(call: Call, site: str) -> dict[str, Any]:
    """GET /sites/{site}/policy.

    With `app` (and `version`): everything that the application needs, and whether the site allows
    it. Without: what the site's deployments need today and would be refused at their next change.
    """
    app, version = call.args.get("app"), call.args.get("version")
    with call.parts.store.session() as session:
        find(call, session, site)
        document = world.sites(session, [site])[site].document
        review = PolicyReview(session, Materials(call.parts.store, images=None), document)
        if app:
            needs = review.of_application(app, version or None)
        else:
            needs = review.of_deployments(site, call.parts.repository)
    return {"items": [asdict(need) for need in needs], "next": None}


ROUTES: Final = (
    Route("GET", "/sites/<site>/policy", reviewed, Role.VIEWER, "Needs beyond the site's policy"),
)
