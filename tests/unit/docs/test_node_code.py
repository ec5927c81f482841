"""Code that nodes share with the controller is the same on both sides."""

from __future__ import annotations

from pathlib import Path

import ansible_collections.margrave.edge.plugins.module_utils._errors as one_of_them

from margrave.policy import reference


def test_the_collections_copies_are_up_to_date() -> None:
    """A change of the policy's code reaches nodes: `python docs/generate.py` mends it."""
    folder = Path(one_of_them.__file__).parent
    copies = reference.node_copies()

    assert {name: (folder / name).read_text() for name in copies} == copies
