# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A release on the node: what was made ready, from what, and whether it ever ran healthy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    read_json,
    write_json,
    write_plain,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import as_dict, changing, field

FILE = "release.json"
# Raised when the policy's table refuses what it allowed before: what runs is then only warned of.
POLICY_TABLE = 1
# Beside the variables that hold them, and as closed; nothing that tells of a release tells this.
SECRETS = "secrets.json"
# What a chart was rendered to; kept over attempts, as another rendering could differ.
RENDERED = ".rendered"


@changing
class Part:
    """One component of a release."""

    name: str
    digest: str
    project: str
    timeout: int | None = None
    # service -> {"reference", "policy", "id", "digest", "pin", "pulled", "ours"}: pin is the name
    # that Compose gets, ours says that a call of this collection fetched it
    images: dict = field(factory=dict)
    # service -> {"hash", "count", "finished", "facets", "sources"} of its healthy containers;
    # of a chart, object -> what a person may change in it
    services: dict = field(factory=dict)
    volumes: list = field(factory=list)
    # Helm's own count of the release's states when this one was healthy
    number: int = 0


@changing
class Release:
    """One release; `proven` once it ran healthy here."""

    release: str
    revision: str
    version: str | None
    name: str
    application: str
    health: dict
    parts: list[Part]
    proven: bool = False
    profile: str = "compose"
    namespace: str = ""
    engine: str = ""  # empty in one that was stored before this was noted
    # A digest of what it was made from, whatever its revision says.
    inputs: str = ""
    # Which table of the policy it was checked with; 0 of one from before there was a table.
    policy_table: int = 0

    @property
    def components(self) -> list[str]:
        """Names of its components, in order."""
        return [part.name for part in self.parts]

    def references(self) -> list[str]:
        """All its image names."""
        return sorted({one["reference"] for part in self.parts for one in part.images.values()})

    def store(self, folder: Folder) -> None:
        """Write it durably; its presence says that the release's folder is complete."""
        stored = as_dict(self)
        stored["components"] = stored.pop("parts")
        write_json(os.path.join(folder.release(self.release), FILE), stored)


def load(folder: Folder, release: str | None) -> Release | None:
    """A release that is complete on the disk, or None."""
    if release is None:
        return None
    stored = read_json(os.path.join(folder.release(release), FILE))
    if stored is None:
        return None
    try:
        parts = [Part(**part) for part in stored.pop("components")]
        return Release(parts=parts, **stored)
    except (KeyError, TypeError):
        return None  # of another version of this collection, or damaged: made anew when wanted


def all_of(folder: Folder) -> list[Release]:
    """All complete releases of a deployment."""
    found = (load(folder, name) for name in folder.kept())
    return [one for one in found if one is not None]


def engine_of(folder: Folder) -> str:
    """The engine that the deployment runs on; nothing where none is noted."""
    names = (folder.linked("current"), *folder.kept())
    found = (load(folder, name) for name in names)
    return next((one.engine for one in found if one is not None and one.engine), "")


def store_secrets(folder: str, texts: Iterable[str]) -> None:
    """Keep which texts a release's own call said are secret."""
    write_plain(os.path.join(folder, SECRETS), json.dumps({"texts": list(texts)}).encode())


def secrets(folder: Folder) -> list[str]:
    """What is secret in any release of the deployment that is here."""
    found = (read_json(os.path.join(folder.release(name), SECRETS)) for name in folder.kept())
    return [text for one in found if one for text in one.get("texts", [])]


def incomplete(path: str) -> ConfigError:
    """The error for a release whose files are not all there."""
    return ConfigError(
        "release-incomplete",
        f"{path}: is missing",
        "install the release again: its content travels with the call",
    )


def component_folder(folder: Folder, release: str, component: str) -> str:
    """Where a component's content stands: the project directory of Compose."""
    return os.path.join(folder.release(release), "components", component)


def env_path(folder: Folder, release: str, component: str) -> str:
    """The component's variables."""
    return os.path.join(folder.release(release), f"{component}.env")


def values_path(folder: Folder, release: str, component: str) -> str:
    """The component's values for Helm."""
    return os.path.join(folder.release(release), f"{component}.values.json")


def resolved_path(folder: Folder, release: str, component: str) -> str:
    """What the author wrote, resolved by Compose: it is checked against policies."""
    return os.path.join(folder.release(release), f"{component}.resolved.json")


def model_path(folder: Folder, release: str, component: str) -> str:
    """What the component resolves to: Compose's model, or names of a chart's objects."""
    return os.path.join(folder.release(release), f"{component}.compose.json")


def rendered_path(folder: Folder, release: str, component: str) -> str:
    """Return the folder of what the component's chart was rendered to."""
    return os.path.join(folder.release(release), component + RENDERED)
