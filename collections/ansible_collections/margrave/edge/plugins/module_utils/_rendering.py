# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rendered charts, kept as charts of their own that print exactly the objects that were checked.

The objects are written as JSON, which is YAML that all programs split and read alike. Helm installs
this chart, so it has no template of the application to run when the release is made, tried again,
healed or gone back to.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    read_json,
    remove_tree,
    write_whole,
)
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

ABOUT = "Chart.yaml"
OBJECTS = "manifest.yaml"
TEMPLATE = "templates/manifest.yaml"
PRINTS = '{{ .Files.Get "manifest.yaml" }}\n'
BETWEEN = "---\n"
# Notes of ours in Chart.yaml.
DIGEST = "margrave.manifest"
INPUTS = "margrave.inputs"
# YAML takes some characters for line breaks or refuses them, where JSON has them as they are.
ODD = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")


def text_of(objects: Iterable[dict]) -> str:
    """Return a manifest that YAML and JSON readers understand alike."""
    texts = [json.dumps(found, sort_keys=True, indent=1, ensure_ascii=False) for found in objects]
    whole = "".join(f"{BETWEEN}{text}\n" for text in texts)
    return ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", whole)


def store(path: str, about: Mapping[str, str], objects: Iterable[dict], inputs: str = "") -> None:
    """Keep objects as a chart; it is there as a whole or not at all.

    `about` is the chart that they were rendered from: name, version and appVersion. `inputs` says
    what they were rendered from, and is empty for a release of before charts were kept rendered.
    """
    text = text_of(objects)
    notes = {DIGEST: sha256(text.encode()).hexdigest(), INPUTS: inputs}
    # Helm does without a version of the application, not without the others.
    chart = {"name": "chart", "version": "0.0.0", **about, "apiVersion": "v2", "annotations": notes}
    draft = f"{path}.new"
    remove_tree(draft)
    os.makedirs(os.path.join(draft, os.path.dirname(TEMPLATE)), mode=0o700)
    files = {OBJECTS: text, TEMPLATE: PRINTS, ABOUT: json.dumps(chart, sort_keys=True)}
    for name, content in files.items():
        write_whole(os.path.join(draft, name), content.encode())
    remove_tree(path)
    os.rename(draft, path)


def load(path: str) -> list[dict] | None:
    """Return the objects that are kept, or None where none are, or not as they were written."""
    try:
        with open(os.path.join(path, OBJECTS), encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    if _notes(path).get(DIGEST) != sha256(text.encode()).hexdigest():
        return None
    return [json.loads(each) for each in text.split(BETWEEN) if each.strip()]


def inputs_of(path: str) -> str:
    """Return what the kept objects were rendered from; empty where nobody knows."""
    return str(_notes(path).get(INPUTS) or "")


def _notes(path: str) -> dict[str, Any]:
    return (read_json(os.path.join(path, ABOUT)) or {}).get("annotations") or {}
