"""Upgrade fixtures: sets of disks that earlier versions left, restored for a test.

tests/fixtures/README.md describes the files of a set and how one is made.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine, text

from lab import oci
from lab.oci import Image
from lab.push import push

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab import Lab

FOLDER: Final = Path(__file__).resolve().parents[1] / "fixtures"
PACKAGES: Final = FOLDER / "packages"
IMAGES: Final = FOLDER / "images"
REGISTRY: Final = "registry.margrave.lab:5000"
BASE: Final = "/tmp/margrave-fixture"  # where everything was on the machine that made the set
# History is as old as its set; these settings keep a controller from forgetting it.
KEEP_HISTORY: Final = {
    f"MARGRAVE_RETENTION__{kind}": "87600h"
    for kind in ("EVENTS", "LOGS", "DELETED", "HISTORY", "AUDIT")
}


@dataclass(frozen=True)
class FixtureSet:
    """The disks that one version left."""

    folder: Path

    @property
    def made_at(self) -> datetime:
        """The time at which the installation was stopped."""
        return datetime.fromisoformat(self.json("set.json")["made_at"])

    def json(self, path: str) -> Any:
        """Return the content of a JSON file of the set."""
        return json.loads((self.folder / path).read_text())

    def restore_controller(
        self, kind: str, base: Path, port: int, database: str | None = None
    ) -> Path:
        """Unpack a controller below `base`, listening on `port`; return its folder.

        `database` is the URL of the PostgreSQL database that its dump was loaded into.
        """
        home = base / "controller"
        _unpack(self.folder / kind / "controller.tar.gz", home)
        repository = home / "state/git/deployments.git"
        self.restore_repository(kind, repository)
        config = home / "margrave.toml"
        content = config.read_text().replace(BASE, str(base))
        old = self.json(f"{kind}/credentials.json")["url"]
        content = content.replace(old.removeprefix("http://"), f"127.0.0.1:{port}")
        if database is not None:
            url = f"url = {json.dumps(database)}"
            content = re.sub('^url = "postgresql:.*"$', url, content, flags=re.M)
        config.write_text(content)
        return home

    def restore_repository(self, kind: str, target: Path) -> Path:
        """Make the bare deployments repository again, with all its branches."""
        target.mkdir(parents=True)
        git(target, "init", "--quiet", "--bare", "--initial-branch=main")
        bundle = str(self.folder / kind / "deployments.bundle")
        git(target, "fetch", "--quiet", bundle, "refs/*:refs/*")
        return target

    def restore_runner(
        self, site: str, base: Path, remote: str, url: str = "", port: int = 1
    ) -> Path:
        """Unpack a site's runner below `base`, listening on `port`; return its folder.

        `remote` is its deployments repository; without the `url` of a controller it reports to
        nobody.
        """
        home = base / f"runner-{site}"
        _unpack(self.folder / f"runners/{site}.tar.gz", home)
        old = self.json("sqlite/credentials.json")["url"]
        config = home / "margrave.toml"
        content = config.read_text().replace(f"{old}/git/deployments.git", remote)
        content = re.sub('^bind = ".*"$', f'bind = "127.0.0.1:{port}"', content, flags=re.M)
        config.write_text(content.replace(old, url).replace(BASE, str(base)))
        return home

    def nodes(self, site: str) -> dict[str, Any]:
        """Return what is known of the nodes of a site, by name."""
        about = {path.stem: json.loads(path.read_text()) for path in self._node_files()}
        return {name: node for name, node in about.items() if node["site"] == site}

    def _node_files(self) -> list[Path]:
        return sorted((self.folder / "nodes").glob("*.json"))


def sets() -> list[FixtureSet]:
    """Return all kept sets."""
    return [FixtureSet(path.parent) for path in sorted(FOLDER.glob("*/set.json"))]


def names() -> list[str]:
    """Return the names of all kept sets, as test ids."""
    return [kept.folder.name for kept in sets()]


def push_images(lab: Lab) -> None:
    """Push the kept images to the lab's registry, byte by byte as they are."""
    for reference, digest in json.loads((IMAGES / "index.json").read_text()).items():
        name, _, tag = reference.partition(":")
        manifest = _blob(digest)
        assert oci.digest(manifest) == digest, f"{reference}: is not what index.json says"
        blobs = {part["digest"]: _blob(part["digest"]) for part in _parts(json.loads(manifest))}
        push(lab.registry_address, Image(name, tag, manifest, blobs))


def move_sources(database_url: str, base: Path) -> None:
    """Let the app sources in a restored database point to the packages below `base`."""
    shutil.copytree(PACKAGES, base / "packages")
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        statement = text("UPDATE app_sources SET url = replace(url, :old, :new)")
        connection.execute(statement, {"old": BASE, "new": str(base)})
    engine.dispose()


def git(folder: Path, *words: str) -> str:
    """Run Git in a folder; return what it prints."""
    process = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, f"git {' '.join(words)}: {process.stderr}"
    return process.stdout.strip()


def _unpack(archive: Path, target: Path) -> None:
    target.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="tar")


def _parts(manifest: Mapping[str, Any]) -> list[Any]:
    return [manifest["config"], *manifest["layers"]]


def _blob(digest: str) -> bytes:
    return (IMAGES / "blobs" / digest.removeprefix("sha256:")).read_bytes()
