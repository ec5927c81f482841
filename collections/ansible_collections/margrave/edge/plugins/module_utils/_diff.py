# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts for `--diff`: a release's facts, its files, and its variables without secrets.

Before a call they are read from the release that is current, afterwards from what the call brought
along, or from the release that it went to. Nothing of this is stored.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ansible_collections.margrave.edge.plugins.module_utils import _masking, _release, _values
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose_files import read_env_file
from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._files import read_json
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# A larger file is shown by its digest: nobody reads it in a terminal.
LONGEST = 64 * 1024
# A line of YAML, of an env file or of settings; a reference to a variable is no secret.
ASSIGNMENT = re.compile(
    r"""^(?P<start>[ \t-]*["']?(?P<name>[\w.-]+)["']?[ \t]*[:=][ \t]*)"""
    r"""(?P<value>["']?[^\s$"'{\[].*)$""",
    re.MULTILINE,
)
FACTS = ("version", "revision", "release", "next_revision")


@record
class Content:
    """The files and settings of a release's components, by names that a reader understands."""

    files: Mapping[str, str]
    # Variables of a component, or values of a chart: by name, as text.
    settings: Mapping[str, Mapping[str, str]]


EMPTY = Content({}, {})


def before(call: Call) -> dict[str, Any]:
    """Return what a diff needs to know of the release that is current."""
    current = call.noted().current
    images = current.references() if current else []
    secrets = _release.secrets(call.folder)
    return {"images": images, "content": stored(call, current), "secrets": secrets}


def stored(call: Call, release: Release | None) -> Content:
    """Return the content of a release that is on the node."""
    if release is None:
        return EMPTY
    files: dict[str, str] = {}
    settings = {}
    for part in release.parts:
        folder = _release.component_folder(call.folder, release.release, part.name)
        for place, _folders, names in os.walk(folder):
            for path in (os.path.join(place, name) for name in names):
                # Containers of an older version could write here, and plant links and pipes.
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        files[f"{part.name}/{os.path.relpath(path, folder)}"] = _text(file.read())
        settings[part.name] = _stored_settings(call, release, part.name)
    return Content(files, settings)


def _stored_settings(call: Call, release: Release, component: str) -> dict[str, str]:
    if release.profile == "helm":
        path = _release.values_path(call.folder, release.release, component)
        return dict(_leaves(read_json(path) or {}))
    return read_env_file(_release.env_path(call.folder, release.release, component))


def requested(components: Iterable[Wanted]) -> Content:
    """Return the content that a call brought along."""
    import tarfile  # only a diff pays for its start

    files: dict[str, str] = {}
    settings: dict[str, Mapping[str, str]] = {}
    for component in components:
        data = base64.b64decode(component.archive)
        if data:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
                for entry in tar:
                    body = tar.extractfile(entry)
                    files[f"{component.name}/{entry.name}"] = _text(body.read() if body else b"")
        values = dict(_leaves(_values.nested(component.values)))
        settings[component.name] = values or component.variables
    return Content(files, settings)


def entries(
    call: Call, before: dict, answer: Mapping[str, Any], secrets: Collection[str]
) -> list[dict[str, str]]:
    """Return Ansible's diff: an entry for the release, and one for each text that changes.

    `secrets` are the values that the caller named, also those too short to be masked in a text.
    """
    shown = [_entry("release", _facts(before), _facts(_after(before, answer)))]
    if answer["state"] == "INSTALLED":
        old, new = _sides(call, before["content"], answer)
        kept = [*before["secrets"], *_release.secrets(call.folder)]
        hidden = _masking.ordered([*call.request.secrets, *kept])
        for path in sorted({*old.files, *new.files}):
            texts = [_without_secrets(each.files.get(path, ""), hidden) for each in (old, new)]
            shown.append(_entry(path, texts[0], texts[1]))
        for component in sorted({*old.settings, *new.settings}):
            sides = [each.settings.get(component, {}) for each in (old, new)]
            lines = _settings(sides[0], sides[1], lambda text: _shown(text, hidden, secrets))
            shown.append(_entry(f"variables of {component}", *lines))
    return [entry for entry in shown if entry["before"] != entry["after"]]


def _sides(call: Call, old: Content, answer: Mapping[str, Any]) -> tuple[Content, Content]:
    """Return the content before and after; files only of components that come with the call."""
    request = call.request
    if not request.components or answer["release"] != request.release:
        return old, stored(call, _release.load(call.folder, answer["release"]))
    fetched = tuple(
        f"{component.name}/" for component in request.components if component.repository
    )
    files = {path: text for path, text in old.files.items() if not path.startswith(fetched)}
    return Content(files, old.settings), requested(request.components)


def _without_secrets(text: str, hidden: Iterable[str]) -> str:
    """Mask secrets in a file, and values that it writes itself under a secret's name."""
    return ASSIGNMENT.sub(_assigned, _masking.masked(text, hidden))


def _assigned(line: re.Match) -> str:
    secret = _masking.is_secret_name(line["name"])
    return line["start"] + (_masking.MASK if secret else line["value"])


def _after(before: Mapping[str, Any], answer: Mapping[str, Any]) -> dict:
    if answer["state"] == "DELETED":
        return {}
    after = {name: answer[name] for name in FACTS}
    if answer["state"] == "PREFETCHED":
        return {**before, **after}
    return {**after, "images": answer["images"]}


def _facts(facts: Mapping[str, Any]) -> str:
    lines = [f"{name}: {facts[name]}" for name in FACTS if facts.get(name) is not None]
    for title, name in (("images", "images"), ("differs from the release", "differs")):
        lines += [f"{title}:"] if facts.get(name) else []
        lines += [f"  {text}" for text in facts.get(name) or []]
    return "".join(f"{line}\n" for line in lines)


def _settings(
    old: Mapping[str, str], new: Mapping[str, str], shown: Callable[[str], str]
) -> tuple[str, str]:
    """Return both sides of a component's settings; a secret shows only that it changed."""
    before, after = (
        {
            name: _masking.MASK if _masking.is_secret_name(name) else shown(text)
            for name, text in side.items()
        }
        for side in (old, new)
    )
    for name in {*old} & {*new}:
        if old[name] != new[name] and before[name] == after[name]:
            after[name] += " (changed)"
    return _lines(before), _lines(after)


def _shown(text: str, hidden: Iterable[str], secrets: Collection[str]) -> str:
    return _masking.MASK if text in secrets else _masking.masked(text, hidden)


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}: {text}\n" for name, text in sorted(settings.items()))


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted path and the text of each value in a tree."""
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _leaves(each, f"{path}[{index}]")
    elif path:
        yield path, value if isinstance(value, str) else json.dumps(value)


def _text(data: bytes) -> str:
    if len(data) <= LONGEST and b"\0" not in data:
        return data.decode("utf-8", "replace")
    return f"{len(data)} bytes, sha256:{sha256(data).hexdigest()}\n"


def _entry(header: str, before: str, after: str) -> dict[str, str]:
    headers = {"before_header": header, "after_header": header}
    return {**headers, "before": before, "after": after}
