"""One revision is one thing: what else goes by its name is told, not passed over."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _request, _stage
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, EdgeError
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import replace
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
from ansible_collections.margrave.edge.plugins.module_utils._result import Result

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
DIGEST = "sha256:" + "0" * 64
RAN: dict[str, Any] = {"values": {"a": 1}, "namespace": "shop", "release": None}


def _call(folder: Folder, release: str | None, namespace: str, **content: Any) -> Any:
    asked = {
        "deployment": ID,
        "revision": DIGEST,
        "release": release,
        "profile": "helm",
        "namespace": namespace,
        "components": [{"name": "a", "digest": DIGEST, **content}],
    }
    return SimpleNamespace(folder=folder, request=_request.read(asked))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A deployment of which one release ran."""
    folder = Folder(str(tmp_path))
    request = _call(folder, **RAN).request
    make_folder(folder.release(request.release))
    release = Release(request.release, DIGEST, None, "", "", {}, [Part("a", DIGEST, "p")])
    release.profile, release.namespace, release.inputs = "helm", "shop", request.inputs
    release.proven = True
    release.store(folder)
    return folder


@pytest.mark.parametrize("change", [{"values": {"a": 2}}, {"namespace": "other"}])
def test_a_revision_that_ran_is_not_used_for_something_else(
    folder: Folder, change: dict[str, Any]
) -> None:
    """Other content is refused with what would help; the same, in whatever time, is welcome."""
    _stage.refuse_reuse(_call(folder, **RAN, timeout=5))

    with pytest.raises(ConfigError, match="ran here with other") as refused:
        _stage.refuse_reuse(_call(folder, **{**RAN, **change}))

    assert refused.value.code == "revision-reused"


def test_who_names_the_release_vouches_for_it(folder: Folder) -> None:
    """Secrets make releases of one revision differ, which only its owner can know."""
    release = folder.kept()[0]

    _stage.refuse_reuse(_call(folder, **{**RAN, "release": release, "values": {"a": 2}}))


@pytest.mark.parametrize(
    "change",
    [
        {"namespace": "other"},
        {"name": "b"},
        {"digest": "sha256:" + "1" * 64},
    ],
    ids=["namespace", "component", "content"],
)
def test_nobody_vouches_for_another_place_or_other_content(
    folder: Folder, change: dict[str, Any]
) -> None:
    """Only variables and values can differ below the same name of a release."""
    given = {**RAN, "release": folder.kept()[0]}

    _stage.refuse_reuse(_call(folder, **given))
    with pytest.raises(ConfigError) as refused:
        _stage.refuse_reuse(_call(folder, **{**given, **change}))

    assert refused.value.code == "revision-reused"


class Refusing:
    """A driver whose policy refuses every component."""

    def refuse(self, *_: Any) -> None:
        """Refuse it."""
        raise ConfigError("policy", "components.a: privileged: is denied", "")


def _refused(folder: Folder, table: int, proven: bool = True, **how: Any) -> Result:
    """The answer's part about a policy that refuses a release of that table."""
    call = _call(folder, **RAN)
    call.driver, call.result, call.told = Refusing(), Result(), EdgeError.as_dict
    release = Release("", DIGEST, None, "", "", {}, [Part("a", DIGEST, "p")], policy_table=table)
    release.proven = proven
    _stage.check_policy(call, release, **how)
    return call.result  # type: ignore[no-any-return]


def test_a_policy_refuses_what_was_checked_with_the_same_table(folder: Folder) -> None:
    """Also where it runs already."""
    with pytest.raises(ConfigError):
        _refused(folder, table=1)


def test_a_policy_refuses_what_an_older_version_prepared(folder: Folder) -> None:
    """A release that never ran is a change, which the present policy decides on."""
    with pytest.raises(ConfigError):
        _refused(folder, table=0, proven=False)


@pytest.mark.parametrize(("table", "how"), [(0, {}), (1, {"refuse": False})])
def test_a_release_that_runs_under_older_rules_is_warned_about(
    folder: Folder, table: int, how: dict[str, Any]
) -> None:
    """Its next change will be refused; healing and going back to it go on."""
    result = _refused(folder, table, **how)

    assert result.policy_findings == ["components.a: privileged: is denied"]
    assert "next change" in result.warnings[0]


def test_what_a_call_says_anew_is_noted(folder: Folder) -> None:
    """Version and limits; what is left out stays, and saying the same again changes nothing."""
    release = _stage._release.load(folder, folder.kept()[0])
    assert release is not None
    call = _call(folder, **RAN, timeout=7)
    call.request = replace(call.request, version="2.0.0", health={"timeout": 9}, name="shop")

    assert _stage.note_inputs(call, release)
    assert (release.version, release.health, release.parts[0].timeout) == (
        "2.0.0",
        {"timeout": 9},
        7,
    )
    assert not _stage.note_inputs(call, release)
    call.request = replace(call.request, version=None, name="")
    assert not _stage.note_inputs(call, release)


def test_check_mode_warns_like_the_real_call(folder: Folder) -> None:
    """Check mode applies the stored release's own rules, and does not check it as a new one."""
    call = _call(folder, **RAN)
    call.driver, call.result, call.told = Refusing(), Result(), EdgeError.as_dict
    release = _stage._release.load(folder, folder.kept()[0])
    assert release is not None
    release.policy_table = 0
    release.store(folder)

    assert _stage.rehearse(call, {}).release == release.release
    assert len(call.result.policy_findings) == 1
