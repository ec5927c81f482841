"""Images from definitions."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from lab import definitions, oci
from lab.errors import LabError
from lab.oci import Entry

if TYPE_CHECKING:
    from pathlib import Path


DEFINITION = """
command = ["/bin/web"]
ports = ["80/tcp"]
environment = {B = "2", A = "1"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A definition with two tags, over a base layer that needs no busybox."""
    monkeypatch.setattr(definitions, "_busybox_layer", lambda: oci.layer({"bin/x": Entry(b"x")}))
    web = tmp_path / "web"
    for name, text in {
        "image.toml": DEFINITION,
        "files/bin/web": "common",
        "tags/1/etc/version": "1",
        "tags/2/bin/web": "special",
    }.items():
        file = web / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def files(image: oci.Image) -> dict[str, tuple[str, int]]:
    """Path to content and mode of all layers, later ones winning."""
    found = {}
    for layer in json.loads(image.manifest)["layers"]:
        data = gzip.decompress(image.blobs[layer["digest"]])
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                stream = tar.extractfile(member)
                found[member.name] = (stream.read().decode() if stream else "", member.mode)
    return found


def test_a_tag_lies_over_what_all_tags_share(folder: Path) -> None:
    """Files of the tag win, programs are executable whatever the checkout says."""
    first, second = definitions.read(folder)
    assert (first.name, first.tag, second.tag) == ("web", "1", "2")
    assert files(first) == {
        "bin/x": ("x", 0o644),
        "bin/web": ("common", 0o755),
        "etc/version": ("1", 0o644),
    }
    assert files(second)["bin/web"] == ("special", 0o755)


def test_the_same_definition_gives_the_same_digest(folder: Path) -> None:
    """Neither time nor place nor owner of the files enters an image."""
    before = [image.digest for image in definitions.read(folder)]
    (folder / "web/files/bin/web").touch()
    assert [image.digest for image in definitions.read(folder)] == before


def test_the_configuration_says_what_the_definition_says(folder: Path) -> None:
    """Command, sorted variables, ports; every blob is named by its own digest."""
    image = next(definitions.read(folder))
    config = json.loads(image.blobs[json.loads(image.manifest)["config"]["digest"]])
    assert config["config"]["Cmd"] == ["/bin/web"]
    assert config["config"]["Env"] == ["PATH=/bin", "A=1", "B=2"]
    assert config["config"]["ExposedPorts"] == {"80/tcp": {}}
    assert all(oci.digest(data) == name for name, data in image.blobs.items())


@pytest.mark.parametrize(
    ("text", "finding"),
    [("command = 'x'", "command is not a list"), ("comand = []", "unknown key comand"), ("[", ":")],
)
def test_a_broken_definition_is_told_with_its_path(folder: Path, text: str, finding: str) -> None:
    """Path, finding, and the keys that are known."""
    (folder / "web/image.toml").write_text(text)
    with pytest.raises(LabError, match=r"web/image\.toml") as caught:
        list(definitions.read(folder))
    assert finding in caught.value.message


def test_a_folder_without_definitions_is_told(tmp_path: Path) -> None:
    """An empty push would look like success."""
    with pytest.raises(LabError, match="no image definitions"):
        list(definitions.read(tmp_path))
