# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What annotations name: `typing` costs each call two milliseconds, and who runs reads none."""

from __future__ import annotations

TYPE_CHECKING = False  # read by type checkers as true
if TYPE_CHECKING:
    from typing import IO, Any, Protocol
else:
    IO = Any = Protocol = object

__all__ = ["IO", "TYPE_CHECKING", "Any", "Protocol"]
