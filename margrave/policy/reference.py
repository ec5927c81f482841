"""Reference page of the policy's table, and the copies of its code in the collection.

The collection must not import Margrave's packages, so it has the same code under its own name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from margrave.policy.compose_table import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND: Final = "python docs/generate.py"
# Code of nodes is in module_utils; plugin_utils run beside Ansible, before a package travels.
COPIED: Final = {
    "compose_rows": "module_utils",
    "compose_table": "module_utils",
    "compose_values": "module_utils",
    "compose_bounds": "module_utils",
    "compose_judges": "module_utils",
    "compose_check": "module_utils",
    "compose_paths": "plugin_utils",
}
_OURS: Final = "from margrave.policy."
_THEIRS: Final = "from ansible_collections.margrave.edge.plugins.module_utils._"
_HEADER: Final = f"""\
# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Generated from margrave/policy/{{name}}.py by `{COMMAND}`: change it there.

"""


def collection_copies() -> dict[str, str]:
    """Return the text of each copy by its path in the collection's plugins."""
    ours = Path(__file__).parent
    return {
        f"{folder}/_{name}.py": _HEADER.format(name=name)
        + (ours / f"{name}.py").read_text().replace(_OURS, _THEIRS)
        for name, folder in COPIED.items()
    }


def page() -> str:
    """Return the reference page of the table."""
    sections = "\n".join(_sections())
    return f"""# What a Compose application may ask of a node

Written from the table in `margrave/policy/compose_table.py`; a test fails when they differ.

Places are those of the model that Compose makes of a package's files: `*` is any name, `[]` any
item of a list, `[bind]` a mount of that type. **What has no row is refused**, keys that begin with
`x-` excepted. The third column names the key of a site's [policy](../security.md) that allows more
than the second one says; `-` means that nothing does. `privileged: allow` opens `cap_add`, too.
Paths of the node are absolute and have no `..`; a path below a folder that the application can
write to needs `/` in `host_paths`, because a container could put a link there.

{sections}"""


def _sections() -> Iterator[str]:
    kinds = dict.fromkeys(place.partition(".")[0] for place in sorted(TABLE))
    top = [kind for kind in kinds if kind in TABLE]
    yield _section("The file", top)
    for kind in kinds:
        places = sorted(place for place in TABLE if place.startswith(f"{kind}."))
        if places:
            yield _section(kind, places)


def _section(title: str, places: list[str]) -> str:
    rows = "\n".join(_row(place) for place in places)
    return f"## {title}\n\n| place | allowed | opened by |\n|---|---|---|\n{rows}\n"


def _row(place: str) -> str:
    row = TABLE[place]
    about = row.about.replace("|", "\\|")
    return f"| `{place}` | {about} | {f'`{row.opens}`' if row.opens else '-'} |"
