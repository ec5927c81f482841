"""The site's part of a commit: which documents stand there, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import git

from margrave.documents.deployment import Deployment, read_out_of_bounds
from margrave.documents.site import SiteDocument, read_site
from margrave.errors import DocumentError
from margrave.findings import Finding

# Far above any real document; a larger blob is not even read.
_LIMIT: Final = 1024 * 1024
_LINK_MODE: Final = 0o120000
# Others (a README, .sops.yaml with its rules) are nobody's business.
_SEALED: Final = (".age", ".yaml", ".json")


def is_sealed(path: str) -> bool:
    """Whether a file of this name below secrets/ is read."""
    name = path.rpartition("/")[2]
    return name.endswith(_SEALED) and not name.startswith(".")


def find(tree: git.Tree, path: str) -> git.Tree | git.Blob | None:
    """What stands at a path, or None."""
    try:
        found = tree / path
    except KeyError:
        return None
    return found if isinstance(found, (git.Tree, git.Blob)) else None


def subtree_id(tree: git.Tree, site: str) -> str:
    """The ids of the three subtrees: while they stay, a commit is none of the site's business."""
    paths = (f"deployments/{site}", f"sites/{site}.yaml", f"secrets/{site}")
    found = (find(tree, path) for path in paths)
    return " ".join(one.hexsha if one else "-" for one in found)


def read_texts(tree: git.Tree, site: str) -> tuple[dict[str, str], str | None, list[Finding]]:
    """The documents' texts by path, the site document's text, and what cannot be read."""
    findings: list[Finding] = []
    texts = {
        path: text
        for path, blob in _documents(tree, site, findings)
        if (text := _text(path, blob, findings)) is not None
    }
    path = f"sites/{site}.yaml"
    own = find(tree, path)
    return texts, _text(path, own, findings) if isinstance(own, git.Blob) else None, findings


def read_secrets(tree: git.Tree, site: str) -> tuple[dict[str, bytes], list[Finding]]:
    """The site's encrypted files by path, as they stand in Git, and what is wrong with them."""
    folder = find(tree, f"secrets/{site}")
    if not isinstance(folder, git.Tree):
        return {}, []
    found, findings = {}, []
    for entry in folder.traverse():
        path = str(getattr(entry, "path", ""))
        if not isinstance(entry, git.Blob) or not is_sealed(path):
            continue
        if entry.mode == _LINK_MODE:
            findings.append(Finding("", "is a link", "put the file itself there", file=path))
        elif entry.size > _LIMIT:
            findings.append(Finding("", f"is larger than {_LIMIT} bytes", "shorten it", file=path))
        else:
            found[path] = bytes(entry.data_stream.read())
    return found, findings


def read_documents(
    texts: Mapping[str, str],
    site_text: str | None,
    site: str,
    known: Mapping[tuple[str, str], Deployment] | None = None,
) -> tuple[tuple[Deployment, ...], SiteDocument, list[Finding]]:
    """The documents as values, with every finding of every one of them.

    `known` are documents that were read before, by path and text: one change among a thousand
    documents costs one.
    """
    findings: list[Finding] = []
    deployments = []
    for path, text in sorted(texts.items()):
        try:
            deployment = (known or {}).get((path, text)) or read_out_of_bounds(text, path)
        except DocumentError as error:
            findings += error.findings
            continue
        findings += _rules(deployment, path, site)
        deployments.append(deployment)
    findings += _names(deployments, site)
    try:
        document = read_site(site_text, f"sites/{site}.yaml") if site_text else SiteDocument()
    except DocumentError as error:
        findings += error.findings
        document = SiteDocument()
    return tuple(deployments), document, findings


def _documents(
    tree: git.Tree, site: str, findings: list[Finding]
) -> Iterator[tuple[str, git.Blob]]:
    folder = find(tree, f"deployments/{site}")
    if not isinstance(folder, git.Tree):
        return
    for entry in folder:
        path = str(entry.path)
        if path.endswith(".yml"):
            findings.append(Finding("", "is not read", "call it .yaml", file=path))
        if isinstance(entry, git.Blob) and path.endswith(".yaml"):
            yield path, entry


def _text(path: str, blob: git.Blob, findings: list[Finding]) -> str | None:
    if blob.size > _LIMIT:
        findings.append(Finding("", f"is larger than {_LIMIT} bytes", "shorten it", file=path))
        return None
    try:
        return str(blob.data_stream.read().decode())
    except UnicodeDecodeError:
        findings.append(Finding("", "is not UTF-8", "save it as UTF-8", file=path))
        return None


def _rules(deployment: Deployment, path: str, site: str) -> list[Finding]:
    """What a document must share with the place it stands in."""
    findings = []
    if path != f"deployments/{site}/{deployment.id}.yaml":
        findings.append(
            Finding("/id", "is not the file's name", f"call it {deployment.id}.yaml", file=path)
        )
    if deployment.device_id.split("/")[0] != site:
        findings.append(
            Finding("/metadata/deviceId", f"is not of site {site}", f"write {site}/*", file=path)
        )
    if deployment.profile_type == "compose":
        findings += [_not_delivered(index, path) for index in _without_source(deployment)]
    return findings


def _without_source(deployment: Deployment) -> list[int]:
    return [index for index, one in enumerate(deployment.components) if one.source is None]


def _not_delivered(index: int, path: str) -> Finding:
    return Finding(
        f"/spec/deploymentProfile/components/{index}",
        "its content is not in Git, and a runner pulls no components",
        "publish the application through the controller, which puts it there",
        file=path,
    )


def _names(deployments: list[Deployment], site: str) -> list[Finding]:
    """Two deployments of one name would answer to the same word."""
    seen: dict[str, str] = {}
    findings = []
    for one in deployments:
        if one.name in seen:
            path = f"deployments/{site}/{one.id}.yaml"
            message = f'"{one.name}" is also the name of {seen[one.name]}'
            findings.append(Finding("/metadata/name", message, "rename one", file=path))
        seen[one.name] = one.id
    return findings
