"""The wanted state of each deployment, and what hides it or forbids to start it. Pure."""

from __future__ import annotations

from margrave.documents.deployment import Deployment
from margrave.errors import SecretsUnread
from margrave.planning import Waiting, Wanted
from runner.reconcile.stalls import WAITS_FOR, Stalls, reason_of
from runner.reconcile.view import ReleaseOf
from runner.source import Desired

SECRETS = "secrets"


def of(desired: Desired, release_of: ReleaseOf, stalls: Stalls) -> tuple[Wanted, ...]:
    """Return what is wanted, each deployment with its release or with what hides it."""
    return tuple(_wanted(one, desired.commit, release_of, stalls) for one in desired.deployments)


def _wanted(document: Deployment, commit: str, release_of: ReleaseOf, stalls: Stalls) -> Wanted:
    try:
        release = release_of(document)
    except SecretsUnread as error:
        return Wanted(document, "", commit, Waiting(SECRETS, detail=str(error)))
    except Exception as error:  # noqa: BLE001 - reported; a defect holds no other deployment
        stalls.add(document.id, "", error)
        return Wanted(document, "", commit, Waiting(WAITS_FOR, detail=reason_of(error)))
    return Wanted(document, release, commit, _out_of_bounds(document))


def _out_of_bounds(document: Deployment) -> Waiting | None:
    if not document.out_of_bounds:
        return None
    findings = "; ".join(str(finding) for finding in document.out_of_bounds)
    return Waiting(WAITS_FOR, detail=findings)
