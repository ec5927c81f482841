"""Paths of the API, with what a user typed kept to one segment."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

API: Final = "/api/v1"


def at(*segments: object) -> str:
    """The path below the API; a slash or question mark in a name stays part of the name."""
    return "/".join([API, *(quote(str(one), safe="") for one in segments)])
