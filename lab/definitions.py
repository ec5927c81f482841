"""Image definitions: a folder per image, read into OCI images.

    NAME/image.toml         command, and optionally ports, volumes and environment
    NAME/files/…            lies in every tag
    NAME/tags/TAG/…         lies in this tag, over `files`; every folder here is a tag

Below both lies a layer with a static busybox and nothing else. Files under bin/ are executable.
"""

from __future__ import annotations

import functools
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import oci
from lab.commands import environment, run
from lab.errors import LabError, NotPossibleHere
from lab.oci import Entry, Image

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OURS = Path(__file__).with_name("images")
_KNOWN = {"command", "ports", "volumes", "environment"}


def read(folder: Path) -> Iterator[Image]:
    """All images below the folder, a definition's tags in order."""
    files = sorted(folder.glob("*/image.toml"))
    if not files:
        raise LabError(f"{folder}: no image definitions", "an image is a folder with an image.toml")
    for file in files:
        settings = _settings(file)
        common = _entries(file.parent / "files")
        tags = sorted(one for one in (file.parent / "tags").glob("*") if one.is_dir())
        if not tags:
            raise LabError(f"{file.parent}/tags: no tag", "make a folder per tag")
        for tag in tags:
            layers = [_busybox_layer(), oci.layer({**common, **_entries(tag)})]
            yield oci.image(file.parent.name, tag.name, layers, settings)


def _settings(file: Path) -> dict[str, Any]:
    try:
        value = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{file}: {error}") from error
    unknown = sorted(set(value) - _KNOWN)
    if unknown or not isinstance(value.get("command"), list):
        finding = f"unknown key {unknown[0]}" if unknown else "command is not a list of words"
        raise LabError(f"{file}: {finding}", f"known keys: {', '.join(sorted(_KNOWN))}")
    variables: Mapping[str, str] = value.get("environment", {})
    return {
        "Cmd": value["command"],
        "Env": ["PATH=/bin", *(f"{key}={text}" for key, text in sorted(variables.items()))],
        "ExposedPorts": {port: {} for port in value.get("ports", [])},
        "StopSignal": "SIGTERM",
        "WorkingDir": "/",
        **({"Volumes": {path: {} for path in value["volumes"]}} if "volumes" in value else {}),
    }


def _entries(folder: Path) -> dict[str, Entry]:
    """Modes follow from the path, not from the checkout: digests are equal everywhere."""
    return {
        (path := file.relative_to(folder).as_posix()): Entry(
            file.read_bytes(), 0o755 if path.startswith("bin/") else 0o644
        )
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".keep"
    }


@functools.cache
def _busybox_layer() -> bytes:
    program = shutil.which("busybox", path=environment()["PATH"])
    data = Path(program).resolve().read_bytes() if program else b""
    # A dynamic program names its loader; in an image that holds nothing else there is none.
    if not data or b"ld-linux" in data[:4096]:
        raise NotPossibleHere("no static busybox here", "apt-get install busybox-static")
    applets = run([str(program), "--list"]).split()
    entries = {f"bin/{name}": Entry(link="busybox", mode=0o777) for name in applets}
    entries["bin/busybox"] = Entry(data, 0o755)
    entries["tmp"] = Entry(mode=0o1777, folder=True)
    entries["etc/passwd"] = Entry(b"root:x:0:0:root:/:/bin/sh\n")
    return oci.layer(entries)
