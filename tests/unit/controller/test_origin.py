"""Where an app source may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.catalog.origin import Origin, check
from margrave.errors import Refused


@pytest.mark.parametrize(
    "url",
    ["https://forge/x.git", "http://forge/x", "ssh://git@forge/x", "git@forge.example:team/x.git"],
)
def test_transports(url: str, tmp_path: Path) -> None:
    """HTTPS, HTTP and SSH are taken, in Git's short form too."""
    check(Origin("x", url), [tmp_path])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ext::sh -c id", "is not a source"),
        ("ext::id", "names a transport helper"),
        ("--upload-pack=id", "is not a source"),
        ("git://forge/x", "is not a source"),
        ("https://-oProxyCommand=id/x", "is not a source"),
        ("https://user:word@forge/x", "holds a password"),
        ("/etc", "outside catalog.local_roots"),
        ("file:///etc", "outside catalog.local_roots"),
        ("relative", "outside catalog.local_roots"),
        ("", "is not a source"),
    ],
)
def test_refused_by_name(url: str, words: str, tmp_path: Path) -> None:
    """What could lead Git or the file system astray is refused, and why is said."""
    with pytest.raises(Refused, match=words):
        check(Origin("x", url), [tmp_path])


def test_a_folder_may_have_a_space_in_its_name(tmp_path: Path) -> None:
    """Where a person keeps a checkout is theirs to choose."""
    check(Origin("x", str(tmp_path / "my things")), [tmp_path])


def test_no_folder_has_a_line_break_in_its_name(tmp_path: Path) -> None:
    """Nor anything else that a log or a terminal would be led astray by."""
    with pytest.raises(Refused, match="is not a source"):
        check(Origin("x", f"{tmp_path}/my\nthings"), [tmp_path])


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    """A link below a root that leads elsewhere is outside."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to("/etc")
    with pytest.raises(Refused, match="outside"):
        check(Origin("x", str(tmp_path / "root" / "link")), [tmp_path / "root"])


@pytest.mark.parametrize(
    "more", [{"ref": "--x"}, {"ref": "a..b"}, {"path": "../x"}, {"path": "/x"}]
)
def test_refs_and_paths(more: dict[str, str], tmp_path: Path) -> None:
    """Refs that are options and paths that lead out are refused."""
    with pytest.raises(Refused):
        check(Origin("x", "https://forge/x", **more), [tmp_path])
