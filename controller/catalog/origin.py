"""Where a source may be, and its tree brought here."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from git import GitCommandError, GitError, Repo

from controller.catalog.trees import FolderTree, GitTree, Tree
from controller.gate import lines
from margrave import git_words
from margrave.errors import NotFound, Refused, Unreachable
from margrave.names import is_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from controller.settings import ControllerSettings

TRANSPORTS: Final = ("https", "http", "ssh", "file")
FETCH_SECONDS: Final = 120
# Reads the environment, so that no argument list holds the password.
_HELPER: Final = '!f() { echo "username=$SOURCE_USER"; echo "password=$SOURCE_PASSWORD"; }; f'
_SCP: Final = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.-]*:(?!:)[^:]+")
_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,200}")
_URL_CURE: Final = "give an https://, http:// or ssh:// URL, or a path below catalog.local_roots"


@dataclass(frozen=True)
class Origin:
    """A source as it was registered."""

    name: str
    url: str
    ref: str | None = None
    path: str = ""
    credentials: str | None = None


def check(origin: Origin, roots: Sequence[Path]) -> None:
    """Refused when Git or the file system could be led astray by what the source names."""
    text = origin.url
    # A checkout may stand in a folder with a space in its name; no URL has one.
    unwelcome = r"[^\S ]|[\x00-\x1f\x7f]" if text.startswith("/") else r"[\s\x00-\x1f\x7f]"
    if not text or text.startswith("-") or re.search(unwelcome, text):
        raise Refused(f"{text!r} is not a source", _URL_CURE)
    if re.match(r"[A-Za-z0-9+.-]+::", text):
        raise Refused(f"{text!r} names a transport helper", _URL_CURE)
    if origin.ref is not None and (not _REF.fullmatch(origin.ref) or ".." in origin.ref):
        raise Refused(f"{origin.ref!r} is not a branch, tag or commit", "such as main")
    parts = Path(origin.path).parts
    if origin.path.startswith(("/", "-")) or ".." in parts:
        raise Refused(f"{origin.path!r} leads out of the source", "name a folder inside it")
    if origin.credentials is not None and not is_label(origin.credentials):
        raise Refused(
            f"{origin.credentials!r} names no credentials", "a file's name in state/credentials"
        )
    folder = local_folder(text)
    if folder is not None:
        _below(folder, roots)
    elif not _SCP.fullmatch(text):
        _check_url(text)


def local_folder(url: str) -> Path | None:
    """The folder on this machine that a URL means, or None for one elsewhere."""
    if url.startswith("file://"):
        return Path(unquote(urlsplit(url).path))
    if "://" in url or _SCP.fullmatch(url):
        return None
    return Path(url)


def bring(origin: Origin, settings: ControllerSettings) -> Tree:
    """The source's tree as it is now, or Unreachable."""
    check(origin, settings.catalog.local_roots)
    folder = local_folder(origin.url)
    if folder is None:
        return _fetched(origin, origin.url, settings)
    found = _below(folder, settings.catalog.local_roots)
    if not found.is_dir():
        raise NotFound(f"{origin.url}: is no folder", "check the path")
    bare = (found / "HEAD").is_file() and (found / "objects").is_dir()
    if bare or origin.ref:
        return _fetched(origin, str(found), settings)
    inner = (found / origin.path).resolve()
    if not inner.is_dir() or not inner.is_relative_to(found):
        raise NotFound(f"{origin.url}: has no folder {origin.path}", "check the path")
    return FolderTree(inner, _head(found))


@contextmanager
def told(origin: Origin) -> Iterator[None]:
    """What Git and files do wrong while a source is read, in our words."""
    try:
        yield
    except (OSError, GitError, ValueError) as error:
        why = git_words.reason(str(error))
        cure = "check its files, and its copy in the state folder's sources"
        raise Unreachable(f"{origin.url}: cannot be read: {why}", cure) from error


def _check_url(text: str) -> None:
    url = urlsplit(text)
    if url.scheme not in TRANSPORTS or not url.hostname or url.hostname.startswith("-"):
        raise Refused(f"{text!r} is not a source", _URL_CURE)
    if url.password:
        raise Refused("the URL holds a password", "put it into state/credentials and name the file")


def _below(folder: Path, roots: Sequence[Path]) -> Path:
    """The real folder, if it stands below one of the roots after all links are followed."""
    real = folder.resolve()
    if not folder.is_absolute() or not any(real.is_relative_to(root.resolve()) for root in roots):
        raise Refused(f"{folder}: is outside catalog.local_roots", "add its root there")
    return real


def _head(folder: Path) -> str | None:
    """The commit that a folder's checkout is of; a folder need not be a repository."""
    if not (folder / ".git").exists():
        return None
    try:
        return Repo(folder).head.commit.hexsha
    except (GitError, ValueError):
        return None  # a repository without a commit, or somebody else's: only a label is lost


def _fetched(origin: Origin, url: str, settings: ControllerSettings) -> Tree:
    folder = settings.state.dir / "sources" / f"{origin.name}.git"
    repository = Repo(folder) if (folder / "HEAD").is_file() else Repo.init(folder, bare=True)
    try:
        with repository.git.custom_environment(**_environment(origin, settings)):
            repository.git.fetch(
                "--quiet", "--no-tags", "--force", "--depth=1", "--", url,
                f"{origin.ref or 'HEAD'}:refs/margrave/source",
                kill_after_timeout=FETCH_SECONDS,
            )  # fmt: skip
    except GitCommandError as error:
        why = git_words.reason(str(error.stderr))
        raise Unreachable(f"{origin.url}: {why}", "check URL, ref and credentials") from error
    commit = repository.commit("refs/margrave/source").hexsha
    if origin.path and not _is_folder(repository, commit, origin.path):
        raise NotFound(f"{origin.url}: has no folder {origin.path}", "check the path")
    return GitTree(repository, commit, origin.path)


def _is_folder(repository: Repo, commit: str, path: str) -> bool:
    try:
        kind = str(repository.git.cat_file("-t", f"{commit}:{path.strip('/')}"))
    except GitCommandError:
        return False
    return kind == "tree"


def _environment(origin: Origin, settings: ControllerSettings) -> dict[str, str]:
    # Roots are chosen by the operator, not by owner.
    settled = {"safe.directory": "*", **lines.PATIENCE}
    hosts = settings.git.known_hosts
    environment = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join(TRANSPORTS),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "LC_ALL": "C",
    }
    if origin.credentials is None:
        return environment | _configured(settled) | {"GIT_SSH_COMMAND": lines.ssh(None, hosts)}
    file = settings.state.dir / "credentials" / origin.credentials
    if not file.is_file():
        raise NotFound(f"{file}: is not there", "write `user:password` or an SSH key into it")
    if urlsplit(origin.url).scheme in ("http", "https"):
        user, _, password = file.read_text(encoding="utf-8").strip().partition(":")
        secret = {"SOURCE_USER": user, "SOURCE_PASSWORD": password}
        return environment | secret | _configured({**settled, "credential.helper": _HELPER})
    return environment | _configured(settled) | {"GIT_SSH_COMMAND": lines.ssh(file, hosts)}


def _configured(settled: Mapping[str, str]) -> dict[str, str]:
    """Git's configuration by environment, which no argument list shows."""
    found = {"GIT_CONFIG_COUNT": str(len(settled))}
    for number, (key, value) in enumerate(settled.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found
