"""The kubelet's images are fetched by whichever program the node has and that works."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _cri, _pulls
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs

# As the real one: a settings file that is named has to be there, whatever it says.
CRICTL = """#!/bin/sh
config=${{1#--config=}}
[ -e "$config" ] || {{ echo "level=fatal msg=\\"get server config: $config\\"" >&2; exit 1; }}
shift 2
case $1 in
  version) exit {answers} ;;
  inspecti)
    while read -r one; do
      [ "$one" = "$4" ] && echo '{{"status": {{}}}}' && exit 0
    done <{here}/images
    echo "no such image \\"$4\\" present" >&2; exit 1 ;;
  pull) echo "$2" >>{here}/images; echo "crictl $2 $CRICTL_CREDS" >>{here}/asked ;;
esac
"""
# Breaks the line twice, each time after some bytes have come.
CTR = """#!/bin/sh
shift 4
case $2 in
  ls) while read -r one; do echo "$one"; done <{here}/images ;;
  pull)
    echo "ctr $3" >>{here}/asked
    echo more >>{here}/io.containerd.content.v1.content/ingest/1/data
    count=0; while read -r _; do count=$((count + 1)); done <{here}/asked
    [ $count -lt 3 ] && {{ echo "unexpected EOF" >&2; exit 1; }}
    echo "$3" >>{here}/images ;;
esac
"""
LOGIN = {"registry.site": {"host": "registry.site", "username": "ada", "password": "word"}}


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for a node with containerd."""
    (tmp_path / "io.containerd.content.v1.content/ingest/1").mkdir(parents=True)
    for name in ("images", "asked", "socket"):
        (tmp_path / name).touch()
    for name in ("crictl", "ctr"):
        monkeypatch.setattr(_cri, name.upper(), (str(tmp_path / name),))
    monkeypatch.setattr(_cri, "SOCKETS", (str(tmp_path / "socket"),))
    monkeypatch.setattr(_cri, "STORES", (str(tmp_path),))
    monkeypatch.setattr(_pulls, "PAUSE", 0.0)
    monkeypatch.setattr(_pulls, "RESERVE", 0)
    return tmp_path


def _program(node: Path, name: str, text: str, **more: str) -> None:
    path = node / name
    path.write_text(text.format(here=node, **more))
    path.chmod(0o755)


def _fetch(images: _cri.Images, *references: str) -> None:
    request = SimpleNamespace(logins=images.logins)
    call: Any = SimpleNamespace(request=request, safe_point=lambda: None)
    _pulls.fetch(call, images, list(references))


def test_a_node_without_settings_for_crictl(node: Path) -> None:
    """No settings file is needed; what is missing is fetched, its login in no command line."""
    _program(node, "crictl", CRICTL, answers="0")
    images, wanted = _cri.Images(Programs(), LOGIN), ["registry.site/web:1", "other.site/db:1"]

    assert images.missing(wanted) == wanted
    _fetch(images, *wanted)

    assert images.missing(wanted) == []
    asked = sorted((node / "asked").read_text().splitlines())
    assert asked == ["crictl other.site/db:1 ", "crictl registry.site/web:1 ada:word"]


def test_where_crictl_does_not_answer_containerd_is_asked(node: Path) -> None:
    """A line that breaks is taken up again while bytes come, as with any other engine."""
    _program(node, "crictl", CRICTL, answers="1")
    _program(node, "ctr", CTR)
    images = _cri.Images(Programs(), {})

    assert images.missing(["registry.site/web:1"]) == ["registry.site/web:1"]
    _fetch(images, "registry.site/web:1")

    assert (node / "asked").read_text().splitlines() == ["ctr registry.site/web:1"] * 3
    assert images.missing(["registry.site/web:1"]) == []


def test_a_node_with_neither_leaves_images_to_the_kubelet(node: Path) -> None:
    """Nothing is missing where nothing could be fetched."""
    assert _cri.Images(Programs(), {}).missing(["registry.site/web:1"]) == []
    assert (node / "asked").read_text() == ""
