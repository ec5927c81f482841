"""What Git says, as rows: deployments and sites as their documents want them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, select, update

from controller.store import deployments, events, facts
from controller.store.freshness import Moment
from controller.store.models import Deployment, Node, Site
from controller.store.words import EventKind
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

# The runner's own words for the same: it says them a moment later.
OTHER_WANTED: Final = "another revision is wanted"
RUNS_ALREADY: Final = "it runs already"


@dataclass(frozen=True)
class Told:
    """Who said it, when, and by which commit."""

    commit: str
    author: str
    at: datetime
    request: str | None = None


@dataclass(frozen=True)
class Accepted:
    """A deployment that was accepted and is not in Git yet."""

    id: str
    site: str
    name: str
    app: str
    version: str
    profile: str
    node: str | None
    request: str
    actor: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs: Mapping[str, Any] = field(default_factory=dict)


def known_head(session: Session) -> str | None:
    """The commit up to which Git was read."""
    return facts.head(session)


def note_head(session: Session, commit: str) -> None:
    """Remember up to where Git was read."""
    facts.put(session, facts.HEAD, {"commit": commit})


def accept(session: Session, new: Sequence[Accepted], now: datetime) -> None:
    """Rows for deployments that their request will bring to Git: a thousand in one go."""
    rows = [_awaited(one, now) for one in new]
    session.add_all(rows)
    session.flush()
    told = deployments.resources(session, rows, Moment(now))
    kind = EventKind.DEPLOYMENT
    events.append_all(
        session,
        [events.row(kind, one, one["site"], one["id"], now) for one in told],
    )


def _awaited(new: Accepted, now: datetime) -> Deployment:
    return Deployment(
        id=new.id,
        site=new.site,
        name=new.name,
        app=new.app,
        version=new.version,
        profile=new.profile,
        node=new.node,
        in_git=False,
        parameters=dict(new.parameters),
        extensions={},
        needs=dict(new.needs),
        findings=[],
        request=new.request,
        author=new.actor,
        state=State.PENDING,
        outcome=Outcome.PENDING,
        created_at=now,
        updated_at=now,
    )


def broken(session: Session, deployment: str, site: str, findings: list[Any], at: datetime) -> None:
    """A document that cannot be read: its findings are shown, what was wanted before stays."""
    row = _row(session, deployment, site)
    if row is not None:
        row.findings, row.updated_at = findings, at
        session.flush()
        _tell(session, row, at)


def put_site(session: Session, name: str, values: Mapping[str, Any], told: Told) -> None:
    """A site's document as Git has it; `values` by column names, and `drained`: nodes."""
    ensure_site(session, name, told.at)
    drained = values["drained"]
    fields = {key: value for key, value in values.items() if key != "drained"}
    session.execute(update(Site).where(Site.name == name).values(**fields))
    for node in session.scalars(select(Node).where(Node.site == name)):
        node.drain = bool(fields.get("drain")) or node.name in drained
    session.flush()


def site_findings(
    session: Session, name: str, file: str, findings: Iterable[Mapping[str, Any]]
) -> None:
    """Show what is wrong in a file of the site in place of what was wrong in it before."""
    row = session.get(Site, name)
    if row is None:
        return
    others = [one for one in row.findings if one.get("file") != file]
    row.findings = [*others, *(dict(one) for one in findings)]
    session.flush()


def ensure_site(session: Session, name: str, at: datetime) -> Site:
    """The site's row; a site that only Git knows gets one, so that it can be seen."""
    row = session.get(Site, name)
    if row is None:
        row = Site(name=name, document={}, findings=[], labels={}, drain=False, created_at=at)
        session.add(row)
        session.flush()
    return row


def sites(session: Session) -> list[str]:
    """All sites."""
    return list(session.scalars(select(Site.name).order_by(Site.name)))


def remove_site(session: Session, name: str) -> None:
    """Forget a site with its tokens, nodes and the deployments that it once had."""
    session.execute(delete(Deployment).where(Deployment.site == name))
    session.execute(delete(Site).where(Site.name == name))


def applied_commits(session: Session) -> dict[str, str]:
    """The commit that each site said it has applied."""
    query = select(Site.name, Site.applied_commit)
    return {row.name: row.applied_commit for row in session.execute(query) if row.applied_commit}


def occupants(session: Session, name: str) -> int:
    """How many deployments a site has that are not DELETED."""
    query = select(Deployment.key).where(Deployment.site == name, Deployment.state != State.DELETED)
    return len(session.scalars(query).all())


def in_git(session: Session) -> set[tuple[str, str]]:
    """(site, id) of all deployments that Git had when it was last read."""
    query = select(Deployment.site, Deployment.id).where(Deployment.in_git)
    return {(row.site, row.id) for row in session.execute(query)}


def _row(session: Session, deployment: str, site: str) -> Deployment | None:
    return session.scalar(
        select(Deployment).where(Deployment.id == deployment, Deployment.site == site)
    )


def _tell(session: Session, row: Deployment, at: datetime) -> None:
    session.flush()  # a refresh throws away what was not written yet
    session.refresh(row)
    resource = deployments.resource(session, row.key, Moment(at))
    events.append(session, EventKind.DEPLOYMENT, resource, row.site, row.id, at)
