"""From the remote's head to a Desired value: fetch, compare, verify; any doubt halts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import git

from margrave.documents.deployment import Deployment
from margrave.errors import MargraveError, SecretsUnread, UnsafeArchive
from margrave.findings import Finding
from runner.source import subtree, traces
from runner.source.clone import BROKEN, Clone
from runner.source.components import Components
from runner.source.desired import Desired, Halted
from runner.source.signatures import Signatures

_OTHER_VERSION: Final = "mend it and push, or go back to the version of Margrave that took it"
_MACHINE: Final = "look at the disk and the rights of the state folder"


class Source:
    """The site's view of the deployments repository."""

    def __init__(
        self,
        site: str,
        clone: Clone,
        components: Components,
        allowed_signers: str = "",
        open_secrets: Callable[[Mapping[str, bytes]], object] = dict,
    ) -> None:
        self._site = site
        self._clone = clone
        self._components = components
        self._open_secrets = open_secrets  # raises MargraveError where a file cannot be opened
        self._signatures = Signatures(clone, site, allowed_signers) if allowed_signers else None

    def has_moved(self, commit: str | None) -> bool:
        """Whether the remote's head is another one: cheap, nothing is fetched."""
        return self._clone.remote_head() != commit

    def fetch(self, last: Desired | None, accepted: str | None) -> Desired:
        """The remote's head, verified against what was verified last; Halted where in doubt.

        `accepted` is a commit that a person took although it rewrites history.
        """
        try:
            head = self._clone.fetch(history=self._signatures is not None)
            return self._read(head, last, accepted)
        finally:
            # Two processes that read objects: for all the time until the next fetch they would hold
            # what they read, and to start them again takes some milliseconds.
            self._clone.close()

    def restore(
        self,
        commit: str,
        tree: str,
        texts: dict[str, str],
        own: str | None,
        secrets: Mapping[str, bytes],
    ) -> Desired:
        """What was verified before a restart, from the store's copy; needs no network.

        Another version verified it, maybe. What this one cannot read is told in `unread`: a
        document that is left out must never look like one that was removed.
        """
        deployments, site, findings = subtree.read_documents(texts, own, self._site)
        folder = self._components.folder
        known = traces.read(self._clone, self._site, commit)
        found = Desired(commit, tree, deployments, site, folder, texts, own, secrets, known)
        return replace(found, unread=self._unread(found, findings))

    def _unread(self, found: Desired, findings: Sequence[Finding]) -> Halted | None:
        if findings:
            return Halted(found.commit, "; ".join(str(one) for one in findings), _OTHER_VERSION)
        lost = [one for one in _components_of(found) if not self._components.has(one)]
        if lost:
            words = f"components/{lost[0]} is not whole in the state folder"
            return Halted(found.commit, words, "it is taken from Git as soon as that is reached")
        return None

    def keep_components(self, others: Iterable[str], *states: Desired | None) -> None:
        """Remove the components that are neither among the others nor named by these states."""
        named = {name for one in states if one for name in _components_of(one)}
        self._components.keep(named.union(others))

    def tidy(self) -> None:
        """Pack what has gathered in the clone."""
        self._clone.tidy()

    def close(self) -> None:
        """End helper processes."""
        self._clone.close()

    def _read(self, head: str, last: Desired | None, accepted: str | None) -> Desired:
        try:
            return self._verify(head, last, accepted)
        except BROKEN as error:
            if self._clone.is_sound():
                raise MargraveError(f"{head[:12]} cannot be taken: {error}", _MACHINE) from error
            self._clone.discard()
            raise MargraveError(f"the clone cannot be read: {error}", "it is made anew") from error

    def _verify(self, head: str, last: Desired | None, accepted: str | None) -> Desired:
        self._refuse_rewritten(head, last, accepted)
        if self._signatures is not None:
            # Also where the content is as it was: who put it back must be trusted all the same.
            self._signatures.check(head)
        tree = self._clone.commit(head).tree
        wanted = subtree.subtree_id(tree, self._site)
        if last is not None and last.tree == wanted and self._is_whole(last):
            self._clone.mark_verified(head)
            return replace(last, commit=head)
        texts, own, findings = subtree.read_texts(tree, self._site)
        known = self._read_before(last)
        deployments, site, more = subtree.read_documents(texts, own, self._site, known)
        secrets, unread = subtree.read_secrets(tree, self._site)
        findings += more + unread
        if findings:
            raise Halted(head, "; ".join(str(one) for one in findings), "mend it and push")
        self._open(head, secrets)
        led = traces.read(self._clone, self._site, head, last)
        desired = Desired(
            head, wanted, deployments, site, self._components.folder, texts, own, secrets, led
        )
        self._take_components(desired, tree)
        self._clone.mark_verified(head)
        return desired

    def _open(self, head: str, secrets: Mapping[str, bytes]) -> None:
        """What cannot be opened now could not be opened when an update needs it."""
        try:
            self._open_secrets(secrets)
        except SecretsUnread:
            raise  # nothing is wrong with the commit: it is taken as soon as they can be read
        except MargraveError as error:
            raise Halted(head, error.message, error.cure) from error

    def _read_before(self, last: Desired | None) -> dict[tuple[str, str], Deployment]:
        """The last documents by path and text; one under another name was refused then."""
        if last is None:
            return {}
        paths = {f"deployments/{self._site}/{one.id}.yaml": one for one in last.deployments}
        return {(path, last.texts.get(path, "")): one for path, one in paths.items()}

    def _refuse_rewritten(self, head: str, last: Desired | None, accepted: str | None) -> None:
        if last is None or self._clone.leads_to(last.commit, head):
            return
        if accepted and self._clone.leads_to(accepted, head):
            return
        raise Halted(
            head,
            f"history was rewritten: {head[:12]} does not follow {last.commit[:12]}",
            f"margrave site accept {self._site} --commit {head}, if that is meant",
        )

    def _is_whole(self, desired: Desired) -> bool:
        """Whether nothing of it has to be read again."""
        names = _components_of(desired)
        return not desired.unread and all(self._components.has(name) for name in names)

    def _take_components(self, desired: Desired, tree: git.Tree) -> None:
        for name in _components_of(desired):
            if self._components.has(name):
                continue
            found = subtree.find(tree, f"components/{name}")
            if not isinstance(found, git.Tree):
                raise Halted(
                    desired.commit,
                    f"components/{name} is not in the repository",
                    "publish the application again",
                )
            try:
                self._components.take(name, found)
            except UnsafeArchive as error:
                raise Halted(desired.commit, error.message, error.cure) from error


def _components_of(desired: Desired) -> list[str]:
    """The names of the component folders that the documents ask for."""
    sources = (one.source for deployment in desired.deployments for one in deployment.components)
    return sorted({source.split("/")[1] for source in sources if source})
