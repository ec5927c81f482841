"""One revision is one thing: what else goes by its name is told, not passed over."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _request, _stage
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

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
    release = Release(request.release, DIGEST, None, "", "", {}, [])
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
