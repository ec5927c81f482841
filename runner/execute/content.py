"""Where the collection lies whose modules travel to the nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from margrave.errors import NotFound

COLLECTION: Final = Path("ansible_collections") / "margrave" / "edge"


def collections_path(root: Path | None = None) -> Path:
    """The folder for Ansible's collections path: installed beside us first, the checkout second."""
    root = root or Path(__file__).resolve().parents[2]
    for candidate in (root, root / "collections"):
        if (candidate / COLLECTION / "plugins" / "modules").is_dir():
            return candidate
    raise NotFound(
        f"the collection margrave.edge is neither in {root} nor in {root / 'collections'}",
        "install the package margrave again; it brings the collection along",
    )
