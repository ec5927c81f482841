# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SHA-256 as Python has it built in: `hashlib` loads OpenSSL for it, two milliseconds of a call."""

from __future__ import annotations

try:
    from _sha2 import sha256
except ImportError:  # before Python 3.12, or a Python made to have OpenSSL's alone
    from hashlib import sha256

__all__ = ["sha256"]
