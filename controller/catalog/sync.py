"""Sync: what a source holds now becomes what the database knows."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from controller.catalog import origin as origins
from controller.catalog.origin import Origin
from controller.catalog.packages import Package, read_packages
from controller.store import catalog as rows
from controller.versions import newest
from margrave import durations
from margrave.errors import Conflict, DocumentError, MargraveError, NotFound, Unreachable
from margrave.findings import Finding, Severity, did_you_mean, pointer
from margrave.names import LABEL_CURE, is_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.settings import ControllerSettings
    from controller.store import Session, Store

LOG = logging.getLogger(__name__)
PATIENCE: Final = 30.0  # seconds that somebody waits for another sync's end
KEYS: Final = ("name", "url", "ref", "path", "credentials")


class Catalog:
    """The applications that can be deployed, and the sources that they come from."""

    def __init__(
        self, store: Store, settings: ControllerSettings, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._syncing = threading.Lock()  # two syncs of one source would fetch into one folder
        self._read: dict[str, dict[str, Package]] = {}  # by source and folder, as last read

    def add(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Register a source; DocumentError for what is wrong in it, Conflict for a taken name."""
        origin = self._checked(body)
        with self._store.write() as session:
            if rows.source(session, origin.name):
                raise Conflict(f'there is a source "{origin.name}" already', "choose another name")
            rows.add_source(session, asdict(origin), self._clock())
            added = rows.source(session, origin.name)
        assert added is not None
        return added

    def remove(self, name: str) -> None:
        """Forget a source and the versions that no deployment uses; NotFound when unknown."""
        with self._store.write() as session:
            self._origin(session, name)
            rows.remove_source(session, name)
            _name_newest(session)

    def places(self) -> list[tuple[str, str, str | None]]:
        """Name of each source, where it is read from, and its ref."""
        with self._store.session() as session:
            return rows.places(session)

    def sync(self, name: str) -> dict[str, Any]:
        """Read the source now: {commit, apps: [{id, version}], findings}.

        Unreachable where another one takes so long that nobody should wait for it.
        """
        with self._store.session() as session:
            origin = self._origin(session, name)
        if not self._syncing.acquire(timeout=PATIENCE):
            raise Unreachable("another source is being read", "try again in a while")
        try:
            return self._synced(origin)
        except Exception as error:
            why = str(error) if isinstance(error, MargraveError) else f"a defect: {error!r}"
            with self._store.write() as session:
                rows.sync_failed(session, name, why, self._clock())
            raise
        finally:
            self._syncing.release()

    def _synced(self, origin: Origin) -> dict[str, Any]:
        name = origin.name
        with origins.told(origin):
            tree = origins.bring(origin, self._settings)
            packages = read_packages(tree, partial(self._unchanged, name))
        answer = self._keep(name, tree.commit, packages)
        self._read[name] = {one.folder: one.remembered for one in packages}
        return answer

    def _unchanged(self, source: str, folder: str, mark: str) -> Package | None:
        """What the folder held, if nothing in it has changed and it is stored as it was."""
        known = self._read.get(source, {}).get(folder)
        if known is None or known.mark != mark:
            return None
        with self._store.session() as session:
            stored = rows.version_facts(session, known.app, known.version)
        same = stored is not None and stored["digest"] == known.digest
        return known if same and stored is not None and stored["source"] == source else None

    def ask(self, names: Iterable[str]) -> None:
        """Have these sources read soon, by whichever controller reads them."""
        with self._store.write() as session:
            rows.ask(session, names)

    def sync_due(self) -> None:
        """Sync every source that somebody asked for, and those whose last sync is older than
        catalog.sync_interval; what is wrong with one keeps no other from its turn."""
        age = timedelta(seconds=durations.seconds(self._settings.catalog.sync_interval))
        with self._store.session() as session:
            asked = rows.asked(session)
            due = rows.sources_synced_before(session, self._clock() - age)
        for name in dict.fromkeys([*asked, *due]):
            try:
                self.sync(name)
            except MargraveError as error:
                LOG.warning("source %s: %s", name, error)
            except Exception:  # a defect that one of them brings to light
                LOG.exception("source %s", name)
            if name in asked:
                with self._store.write() as session:
                    rows.answered(session, name, asked[name])

    def _keep(self, name: str, commit: str | None, packages: list[Package]) -> dict[str, Any]:
        now = self._clock()
        findings = [finding for package in packages for finding in package.findings]
        found: list[dict[str, str]] = []
        seen: set[tuple[str, str]] = set()
        with self._store.write() as session:
            for package in packages:
                key = (package.app, package.version)
                told = _again(package) if key in seen else _put(session, package, name, commit, now)
                seen.add(key)
                findings += told
                if package.usable:
                    found.append({"id": package.app, "version": package.version})
            rows.forget_versions(session, name, keep=seen)
            _name_newest(session)
            dicts = [finding.as_dict() for finding in findings]
            rows.synced(session, name, commit, dicts, now)
        return {"commit": commit, "apps": found, "findings": dicts}

    def _origin(self, session: Session, name: str) -> Origin:
        known = rows.source(session, name)
        if known is None:
            raise NotFound(f'there is no source "{name}"', "list them with margrave source list")
        return Origin(**{key: known[key] for key in KEYS})

    def _checked(self, body: Mapping[str, Any]) -> Origin:
        words = "is not a key of a source"
        findings = [
            Finding(pointer([key]), words, did_you_mean(key, KEYS), "unknown-key")
            for key in sorted(set(body) - set(KEYS))
        ]
        findings += [
            Finding(pointer([key]), "is not text", "put it in quotes")
            for key in KEYS
            if body.get(key) is not None and not isinstance(body[key], str)
        ]
        findings += [
            Finding(pointer([key]), "is missing", "add it")
            for key in ("name", "url")
            if body.get(key) is None
        ]
        if not findings and not is_label(body["name"]):
            findings.append(Finding("/name", f'"{body["name"]}" is not a name', LABEL_CURE))
        if findings:
            raise DocumentError(findings)
        origin = Origin(**{key: body[key] for key in KEYS if body.get(key) is not None})
        try:
            origins.check(origin, self._settings.catalog.local_roots)
        except MargraveError as error:
            raise DocumentError([Finding("/url", error.message, error.cure)]) from error
        return origin


def _put(
    session: Session, package: Package, source: str, commit: str | None, now: datetime
) -> list[Finding]:
    """Store a version, or say why what is stored stays."""
    known = rows.version_facts(session, package.app, package.version)
    if known and known["usable"] and known["digest"] != package.digest:
        changed = Finding(
            "/metadata/version",
            f"the content of {package.app} {package.version} has changed; what was first read"
            " under this version stays",
            "give the change a new version",
            "changed",
            file=f"{package.folder}/margo.yaml".lstrip("/"),
            severity=Severity.WARNING,
        )
        told = [*package.findings, changed] if known["source"] == source else [changed]
        rows.note_findings(session, known["id"], [one.as_dict() for one in told])
        return [changed]
    as_stored = known and known["digest"] == package.digest and known["source"] == source
    if known and as_stored and known["usable"] == package.usable:
        rows.note_findings(session, known["id"], [one.as_dict() for one in package.findings])
        return []
    values = {
        "app_id": package.app,
        "version": package.version,
        "source": source,
        "folder": package.folder,
        "commit": commit,
        "digest": package.digest,
        "name": package.name or package.app,
        "about": package.about,
        "text": package.text,
        "description": package.description,
        "findings": [one.as_dict() for one in package.findings],
        "usable": package.usable,
    }
    rows.put_version(session, values, package.components, now)
    return []


def _again(package: Package) -> list[Finding]:
    words = f"{package.app} {package.version} stands in another folder too; that one is used"
    file = f"{package.folder}/margo.yaml".lstrip("/")
    return [Finding("/metadata/version", words, "keep one of them", "twice", file=file)]


def _name_newest(session: Session) -> None:
    """Lists show the newest version that can be deployed, or the newest that there is."""
    for app, versions in rows.versions_by_app(session).items():
        usable = [version for version, fine in versions.items() if fine]
        rows.name_newest(session, app, newest(usable) or newest(versions))
