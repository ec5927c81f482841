"""`--diff` shows what a call changes, and no secret."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _diff, _release, _values
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose import env_file
from ansible_collections.margrave.edge.plugins.module_utils._files import point
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._shell import operate
from ansible_collections.margrave.edge.plugins.plugin_utils import packing

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
OLD = {"compose.yaml": "image: web:1\n", "same.conf": "a", "gone.conf": "old\n"}
NEW = {"compose.yaml": "image: web:2\ncmd: token-two\n", "same.conf": "a", "data": "\0" * 9}
REVISIONS = {"1.0.0": "sha256:" + "1" * 64, "2.0.0": "sha256:" + "2" * 64}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A node's folders."""
    return Layout(str(tmp_path / "state"), str(tmp_path / "run"))


def _name(version: str) -> str:
    return sha256(REVISIONS[version].encode()).hexdigest()


def _installed(layout: Layout, variables: dict[str, str], secrets: list[str]) -> None:
    """Put a healthy release on the node, as an install leaves it."""
    folder = layout.deployment(ID)
    part = _release.Part("web", "sha256:" + "0" * 64, "project")
    part.images = {"web": {"reference": "web:1", "id": "1", "ours": True}}
    release = _release.Release(
        _name("1.0.0"), REVISIONS["1.0.0"], "1.0.0", "shop", "shop", {}, [part]
    )
    content = Path(_release.component_folder(folder, release.release, "web"))
    content.mkdir(parents=True)
    for name, text in OLD.items():
        (content / name).write_text(text)
    Path(_release.env_path(folder, release.release, "web")).write_bytes(env_file(variables))
    _release.store_secrets(folder.release(release.release), secrets)
    release.store(folder)
    point(folder.path, {"current": f"releases/{release.release}"})


def _params(tmp_path: Path, variables: dict[str, Any], **more: Any) -> dict[str, Any]:
    source = tmp_path / "source"
    source.mkdir()
    for name, text in NEW.items():
        (source / name).write_text(text)
    archive = packing.packed(str(source))
    component = {
        "name": "web",
        "archive": packing.text(archive),
        "digest": packing.digest(archive),
        "variables": variables,
    }
    return {"deployment": ID, "revision": REVISIONS["2.0.0"], "components": [component], **more}


def _work(call: Call) -> None:
    """Answer as an update does that made the release run."""
    call.differs = ["web.web: stopped, web-1 is exited"]
    result, request = call.result, call.request
    result.changed, result.state = True, "INSTALLED"
    result.revision, result.release, result.version = request.revision, request.release, "2.0.0"
    result.images = ["web:2"]


def _entries(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {one["after_header"]: (one["before"], one["after"]) for one in answer["shown"]}


@pytest.mark.parametrize("check", [True, False])
def test_files_variables_and_images_are_shown(layout: Layout, tmp_path: Path, check: bool) -> None:
    """Those that change, in check mode and for real; each side as it is."""
    _installed(layout, {"GREETING": "hello", "SAME": "x"}, [])
    params = _params(tmp_path, {"GREETING": "good evening", "SAME": "x", "PORT": 8080})

    answer = operate("update", params, check, _work, layout, diff=True)
    entries = _entries(answer)

    assert answer["error"] is None
    assert entries["web/compose.yaml"] == (OLD["compose.yaml"], NEW["compose.yaml"])
    assert entries["web/gone.conf"] == ("old\n", "")
    assert "web/same.conf" not in entries
    assert entries["web/data"][1].startswith("9 bytes, sha256:")
    assert entries["variables of web"] == (
        "GREETING: hello\nSAME: x\n",
        "GREETING: good evening\nPORT: 8080\nSAME: x\n",
    )
    before, after = entries["release"]
    assert "version: 1.0.0\n" in before
    assert "images:\n  web:1\n" in before
    assert "differs from the release:\n  web.web: stopped" in before
    assert "version: 2.0.0\n" in after
    assert "images:\n  web:2\n" in after
    assert "differs" not in after


def test_secrets_show_only_that_they_change(layout: Layout, tmp_path: Path) -> None:
    """Secrets of the call, of the release before, and those known by their names."""
    old = {"A": "token-one", "DB_PASSWORD": "first", "DSN_PIN": "1", "URL": "http://token-one@db"}
    new = {"A": "token-two", "DB_PASSWORD": "other", "DSN_PIN": "2", "URL": "http://token-two@db"}
    _installed(layout, old, ["token-one"])
    params = _params(tmp_path, {**new, "SHORT": "xyz"}, secrets=["token-two", "xyz"])

    answer = operate("update", params, False, _work, layout, diff=True)
    entries = _entries(answer)

    assert entries["variables of web"] == (
        "A: [redacted]\nDB_PASSWORD: [redacted]\nDSN_PIN: [redacted]\nURL: http://[redacted]@db\n",
        (
            "A: [redacted] (changed)\nDB_PASSWORD: [redacted] (changed)\n"
            "DSN_PIN: [redacted] (changed)\nSHORT: [redacted]\n"
            "URL: http://[redacted]@db (changed)\n"
        ),
    )
    assert entries["web/compose.yaml"][1] == "image: web:2\ncmd: [redacted]\n"
    shown = json.dumps(answer)
    assert [text for text in ("token-", "first", "other", "xyz") if text in shown] == []


def test_a_diff_is_not_stored_with_the_answer(layout: Layout, tmp_path: Path) -> None:
    """The same call made again answers what the first did, and shows no change."""
    fence = {"runner": "aaaaaaaa-0000-0000-0000-000000000000", "epoch": 1, "seq": 1}
    params = _params(tmp_path, {}, fence=fence)

    first = operate("update", params, False, _work, layout, diff=True)
    second = operate("update", params, False, _work, layout, diff=True)

    assert {**second, "shown": first["shown"]} == first
    assert "shown" not in Path(layout.record_of(ID)).read_text()


def test_only_regular_files_of_a_release_are_shown(layout: Layout, tmp_path: Path) -> None:
    """A container of an older version could plant links to files of the node, and pipes."""
    _installed(layout, {}, [])
    folder = Path(_release.component_folder(layout.deployment(ID), _name("1.0.0"), "web"))
    (tmp_path / "shadow").write_text("root:hash\n")
    (folder / "planted").symlink_to(tmp_path / "shadow")
    (folder / "broken").symlink_to(tmp_path / "gone")
    os.mkfifo(folder / "pipe")

    answer = operate("update", _params(tmp_path, {}), False, _work, layout, diff=True)

    assert answer["error"] is None
    assert {"web/compose.yaml", "web/gone.conf"} <= _entries(answer).keys()
    assert not {"web/planted", "web/broken", "web/pipe"} & _entries(answer).keys()


def test_values_of_a_chart_are_shown_by_path(layout: Layout, tmp_path: Path) -> None:
    """Typed as Helm gets them, lists by their places."""
    nested = _values.nested({"web.replicas": 2, "web.hosts": ["a", "b"], "web.on": True})

    assert dict(_diff._leaves(nested)) == {
        "web.replicas": "2",
        "web.hosts[0]": "a",
        "web.hosts[1]": "b",
        "web.on": "true",
    }


def test_a_deletion_shows_what_ran(layout: Layout) -> None:
    """Its facts, and no files: all of them go."""
    _installed(layout, {"GREETING": "hello"}, [])

    def delete(call: Call) -> None:
        call.result.changed, call.result.state = True, "DELETED"

    answer = operate("delete", {"deployment": ID}, False, delete, layout, diff=True)

    assert list(_entries(answer)) == ["release"]
    assert _entries(answer)["release"][1] == ""


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("      DB_PASSWORD: hunter2", "      DB_PASSWORD: [redacted]"),
        ("      - API_KEY=hunter2", "      - API_KEY=[redacted]"),
        ("  'token': \"hunter2\"", "  'token': [redacted]"),
        ("      DB_PASSWORD: ${DB_PASSWORD:-}", "      DB_PASSWORD: ${DB_PASSWORD:-}"),
        ("secrets:", "secrets:"),
        ("image: registry:5000/web", "image: registry:5000/web"),
    ],
    ids=["YAML", "list", "quoted", "a reference", "a section", "ordinary"],
)
def test_secrets_that_a_package_itself_writes_are_not_shown(line: str, shown: str) -> None:
    """They are known by their names; the line stays, and a reference stays readable."""
    assert _diff._without_secrets(f"a: b\n{line}\nc: d\n", []) == f"a: b\n{shown}\nc: d\n"
