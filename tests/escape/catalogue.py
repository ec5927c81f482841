"""Packages of the suite, read from their files, with the names of this run filled in."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.margrave.edge.plugins.module_utils._request import short_of

FOLDER = Path(__file__).parent
IDLE = "registry.margrave.lab:5000/idle:1"
MARKER = "escape-marker-5b1f"  # the text of the node that nobody may read
NEIGHBOUR = "0e1ba1c0-5afe-4000-8000-000000000001"
COMPONENT = "web"
ENGINES = {"compose": ("podman", "docker"), "helm": ("kubernetes",)}
KEYS = {
    "tries", "changes", "rows", "expect", "engines", "policy", "variables", "values", "files",
    "compose", "chart", "packed", "repeat", "admission", "namespace",
}  # fmt: skip


class Expectation(StrEnum):
    """Right ends of a package."""

    REFUSED = "refused"  # error class config, and nothing was started or fetched
    CONTAINED = "contained"  # any end, and nothing outside of its own objects differs
    RUNS = "runs"  # installed and healthy, and nothing outside of its own objects differs


SURE = ("compose", Expectation.REFUSED)


@dataclass(frozen=True)
class Names:
    """Names that differ from run to run and from lab to lab."""

    gateway: str = "192.0.2.1"  # the machine of the lab, as nodes see it
    node: str = "node"
    port: int = 9  # where its listener waits for connections that nobody may make

    def fill(self, text: str, package: str, deployment: str) -> str:
        """Replace the placeholders of a package's file."""
        values = {
            "idle": IDLE,
            "web": "registry.margrave.lab:5000/storefront-web:1.0.0",
            "cache": "registry.margrave.lab:5000/storefront-cache:1.0.0",
            "name": package,
            "id": deployment,
            "own": f"margrave-{short_of(deployment)}-{COMPONENT}",
            "neighbour": project_of_neighbour(),
            "neighbour_id": NEIGHBOUR,
            "gateway": self.gateway,
            "node": self.node,
            "port": str(self.port),
        }
        return re.sub("@([a-z_]+)@", lambda found: values.get(found[1], found[0]), text)


def project_of_neighbour() -> str:
    """Compose's project of the deployment that stands beside the hostile ones."""
    return f"margrave-{short_of(NEIGHBOUR)}-neighbour"


@dataclass(frozen=True)
class Package:
    """One package: its files and its expected end."""

    name: str
    kind: str  # compose | helm
    tries: str
    changes: str
    expect: Expectation
    engines: tuple[str, ...]
    files: Mapping[str, bytes]
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    # `refused` where the controller can know, else `open`.
    admission: str = "refused"
    archive: bytes | None = None  # a crafted archive in place of the files'

    @property
    def deployment(self) -> str:
        """Id of its deployment: the same in each run."""
        return deployment_of(self.name)

    def write(self, folder: Path) -> Path:
        """Write its files below the folder."""
        for path, data in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder


def deployment_of(name: str) -> str:
    """Id of the deployment of a package with this name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"escape/{name}"))


def hostile_compose(names: Names = Names()) -> list[Package]:
    """Hostile packages for podman and Docker Engine."""
    return list(_read("hostile/compose", "compose", names))


def hostile_charts(names: Names = Names()) -> list[Package]:
    """Hostile packages for Kubernetes."""
    return list(_read("hostile/charts", "helm", names))


def ordinary_compose(names: Names = Names()) -> list[Package]:
    """Packages that any site runs, for podman and Docker Engine."""
    return list(_read("ordinary/compose", "compose", names))


def ordinary_charts(names: Names = Names()) -> list[Package]:
    """Packages that any site runs, for Kubernetes."""
    return list(_read("ordinary/charts", "helm", names))


def _read(folder: str, kind: str, names: Names) -> Iterator[Package]:
    usual = Expectation.RUNS if folder.startswith("ordinary") else Expectation.REFUSED
    for path in sorted((FOLDER / folder).glob("*.yaml")):
        yield _package(path, kind, usual, names)


def _package(path: Path, kind: str, usual: Expectation, names: Names) -> Package:
    name = path.stem
    text = names.fill(path.read_text(), name, deployment_of(name))
    data = yaml.safe_load(text)
    unknown = set(data) - KEYS
    assert not unknown, f"{path}: unknown keys {sorted(unknown)}"
    expect = Expectation(data.get("expect", usual))
    return Package(
        name=name,
        kind=kind,
        tries=data["tries"],
        changes=data.get("changes", ""),
        expect=expect,
        engines=tuple(data.get("engines", ENGINES[kind])),
        files=_compose_files(data) if kind == "compose" else _chart_files(data),
        variables={key: str(value) for key, value in data.get("variables", {}).items()},
        values=data.get("values", {}),
        policy=data.get("policy", {}),
        rows=tuple(data.get("rows", ())),
        # Only a node renders charts; what their files show may be refused before.
        admission=data.get("admission", expect if (kind, expect) == SURE else "open"),
    )


def _compose_files(data: Mapping[str, Any]) -> dict[str, bytes]:
    text = data["compose"]
    repeat = data.get("repeat")
    if repeat:
        text += f"{repeat['line']}\n" * repeat["count"]
    return {"compose.yaml": text.encode(), **_texts(data.get("files", {}))}


def _chart_files(data: Mapping[str, Any]) -> dict[str, bytes]:
    chart = {
        "Chart.yaml": "apiVersion: v2\nname: escape\nversion: 1.0.0\n",
        "values.yaml": yaml.safe_dump(data.get("values", {})),
        "templates/all.yaml": data["chart"],
    }
    packed = {path: _packed(files) for path, files in data.get("packed", {}).items()}
    return {**_texts({**chart, **data.get("files", {})}), **packed}


def _packed(files: Mapping[str, str]) -> bytes:
    """Return a chart as Helm packs it, always with the same bytes."""
    body = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=body, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as tar,
    ):
        for path, data in _texts(files).items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return body.getvalue()


def _texts(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}
