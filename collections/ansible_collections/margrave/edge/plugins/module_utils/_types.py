# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What annotations name: `typing` costs each call two milliseconds, and who runs reads none."""

from __future__ import annotations

TYPE_CHECKING = False  # read by type checkers as true
if TYPE_CHECKING:
    from typing import IO, Any, Protocol, TypeVar, dataclass_transform
else:
    IO = Any = Protocol = object

    def TypeVar(name):  # noqa: N802 - as it is called there
        """Nothing that anybody asks."""
        return name

    def dataclass_transform(**_options):
        """As there: what it decorates stays as it is."""
        return lambda one: one


__all__ = ["IO", "TYPE_CHECKING", "Any", "Protocol", "TypeVar", "dataclass_transform"]
