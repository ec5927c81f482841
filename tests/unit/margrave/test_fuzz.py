"""Nothing that can be sent to a reader makes it fail itself.

How long and how large it gets over it is measured by `python -m bench.hostile`, not here.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.hostile import LARGE, READERS, hunt, read_or_refuse
from margrave.yaml_text import SIZE_LIMIT


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60)
@given(data=st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    """Whatever comes, the answer is a document or a refusal in words."""
    read_or_refuse(READERS[name], data)


def test_broken_documents_are_refused() -> None:
    """A few seconds of mutated documents: no exception but ours."""
    assert set(hunt(3, seed=7)) == set(READERS)


@pytest.mark.full
def test_a_long_hunt_finds_nothing() -> None:
    """Two minutes of it, begun elsewhere each time."""
    assert set(hunt(120, seed=random.randrange(2**32))) == set(READERS)


@pytest.mark.parametrize("shape", LARGE)
def test_the_largest_inputs_are_answered(shape: str) -> None:
    """Up to the size limit, whatever shape it has."""
    for name in ("deployment", "description", "manifest"):
        read_or_refuse(READERS[name], LARGE[shape][:SIZE_LIMIT])
