"""What deployments were before: the content that a rollback goes back to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.gate import checking
from controller.publish.changes import content_in
from controller.store import history
from margrave.errors import DocumentError
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.publish.repository import Repository
    from controller.store import Store
    from controller.store.world import Standing


class Past:
    """Older content by deployment; read once, best before a transaction holds others up.

    What stood otherwise then than it stands when it is asked for is read again.
    """

    def __init__(self, repository: Repository, store: Store, to: str | None) -> None:
        self._repository = repository
        self._store = store
        self._to = to  # a version or revision; None: what ran before
        self._known: dict[tuple[str, str, str | None], dict[str, Any]] = {}

    def read(self, chosen: Iterable[Standing]) -> None:
        """Look all of them up, up to the first that has no such past."""
        for one in chosen:
            self.of(one)

    def of(self, one: Standing) -> dict[str, Any]:
        """The newest older content that is meant, with the commit that wrote it."""
        key = (one.site, one.id, one.revision)
        if key not in self._known:
            self._known[key] = self._look(one)
        return self._known[key]

    def _look(self, one: Standing) -> dict[str, Any]:
        path = f"deployments/{one.site}/{one.id}.yaml"
        head = self._repository.head()
        passed_over = self._not_before(one)
        for commit, data in self._repository.versions(head, path) if head else ():
            try:
                document = checking.deployment_at(path, data)
            except DocumentError:
                continue  # what could not be read then cannot be gone back to
            if document.revision in passed_over:
                continue
            if self._to is None or self._to == document.version or self._is(document.revision):
                return {**content_in(document.raw), "commit": commit}
        failed = self._to is None and len(passed_over) > 1
        other = "no other content that did not fail" if failed else "no other content"
        wanted = f'no "{self._to}"' if self._to else other
        words = f"{one.name} at {one.site} had {wanted} before"
        cure = "look at its commits, or update to a version"
        raise DocumentError([Finding("/to" if self._to else "", words, cure, "unknown")])

    def _not_before(self, one: Standing) -> frozenset[str | None]:
        """Return the revisions that are not what ran before: the present one, and failed ones.

        Whoever names a version or revision gets it, also one that failed.
        """
        if self._to is not None:
            return frozenset()
        with self._store.session() as session:
            return frozenset((one.revision,)) | history.failed_revisions(session, one.id, one.site)

    def _is(self, revision: str) -> bool:
        """A revision may be shortened, with or without its prefix; eight digits tell it apart."""
        digits = (self._to or "").removeprefix("sha256:")
        return len(digits) >= 8 and revision.removeprefix("sha256:").startswith(digits)
