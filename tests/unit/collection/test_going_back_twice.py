"""Going back twice is going back once, also after a power cut that took the word of the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _release, _request, _rollback
from ansible_collections.margrave.edge.plugins.module_utils._call import Call, Observation
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder, write_json
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
OLD, NEW = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("notes", "current", "meant"),
    [
        ({"phase": "done", "current": NEW}, OLD, OLD),
        ({"phase": "commit", "current": NEW}, OLD, OLD),  # the links were moved, the word is lost
        ({"phase": "switch", "current": NEW}, NEW, OLD),  # not there yet
        ({"phase": "done", "current": OLD}, OLD, OLD),  # it was mended where it stood
        ({"phase": "switch", "current": OLD}, OLD, NEW),
        ({"phase": "done", "current": NEW, "kind": "update"}, OLD, NEW),
    ],
)
def test_a_rollback_that_came_there_is_the_same_again(
    tmp_path: Path, notes: dict[str, Any], current: str, meant: str
) -> None:
    """What its links say counts, or a repeated call would switch to what somebody left."""
    call = Call(_request.read({"deployment": ID}), "rollback", Layout(str(tmp_path)), check=False)
    make_folder(call.folder.path)
    before = {"kind": "rollback", "wanted": {"release": OLD}, **notes}
    write_json(call.folder.journal, before)
    there = {
        name: _release.Release(name, f"sha256:{name}", None, "shop", "shop", {}, [], proven=True)
        for name in (OLD, NEW)
    }
    for name, release in there.items():
        make_folder(call.folder.release(name))
        release.store(call.folder)
    other = NEW if current == OLD else OLD
    seen = Observation(there[current], there[other], None, None, [])

    assert _rollback._target(call, seen).release == meant
