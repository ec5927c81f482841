# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm's values from dotted paths: `web.ports[0].number: 80` becomes what values.yaml means. Pure.

A dot in a key is written with a backslash before it, as Helm's own --set has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

STEP = re.compile(r"(?P<key>(?:[^.\[\]\\]|\\.)+)(?P<places>(?:\[\d{1,3}\])*)(?:\.|$)")


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as a tree; ConfigError where two paths contradict each other."""
    tree: dict[str, Any] = {}
    for path, value in sorted(values.items()):
        steps = _steps(path)
        spot: Any = tree
        for place, step in enumerate(steps[:-1]):
            spot = _enter(path, spot, step, [] if isinstance(steps[place + 1], int) else {})
        _enter(path, spot, steps[-1], value)
        if _at(spot, steps[-1]) is not value:
            raise _contradiction(path)
    return tree


def _steps(path: str) -> list[Any]:
    steps: list[Any] = []
    place = 0
    while place < len(path):
        match = STEP.match(path, place)
        if match is None or (match.end() == len(path) and path.endswith(".")):
            raise _unreadable(path)
        steps.append(re.sub(r"\\(.)", r"\1", match["key"]))
        steps += [int(number) for number in re.findall(r"\d+", match["places"])]
        place = match.end()
    if not steps:
        raise _unreadable(path)
    return steps


def _enter(path: str, spot: Any, step: Any, fresh: Any) -> Any:
    """What stands at the step, made when nothing does."""
    if isinstance(step, int) is not isinstance(spot, list):
        raise _contradiction(path)
    if isinstance(spot, list):
        spot.extend([None] * (step + 1 - len(spot)))
    elif not isinstance(spot, dict):
        raise _contradiction(path)
    if _at(spot, step) is None:
        spot[step] = fresh
    return spot[step]


def _at(spot: Any, step: Any) -> Any:
    return spot[step] if isinstance(spot, list) else spot.get(step)


def _contradiction(path: str) -> ConfigError:
    return ConfigError(
        "values",
        f"values.{path}: stands below or beside a value that another parameter sets",
        "let each parameter of the application set a value of its own",
    )


def _unreadable(path: str) -> ConfigError:
    return ConfigError(
        "values",
        f'values: "{path}" is not a path of values',
        r"write keys with dots between them, [0] for an item, \. for a dot in a key",
    )
