"""Subnets, numbers and names of interfaces."""

from __future__ import annotations

import pytest

from lab.errors import LabError
from lab.record import Record
from lab.subnet import Subnet, choose, free_number


def test_a_subnet_names_everything_within_the_kernels_limits() -> None:
    """The longest interface name fits into 15 characters, addresses lie in the subnet."""
    last = Subnet(254)
    assert len(last.interface(250)) <= 15
    assert (last.gateway, last.address(11)) == ("10.231.254.1", "10.231.254.11")
    assert last.mac(11) == "02:4d:47:fe:00:0b"
    assert last.namespace("harbor-1") == "mgv254-harbor-1"


def test_a_new_lab_avoids_networks_in_use_and_other_labs() -> None:
    """Overlap in either direction counts; the default route does not."""
    assert choose([], []).index == 0
    assert choose(["10.231.0.7/32", "10.231.2.0/23", "0.0.0.0/0"], [1]).index == 4


def test_no_free_subnet_is_said_with_a_cure() -> None:
    """A machine that routes all of 10/8 elsewhere gets no lab."""
    with pytest.raises(LabError, match="margrave lab down"):
        choose(["10.0.0.0/8"], [])


def test_nodes_keep_their_numbers_when_others_come() -> None:
    """A number once given stays, so that address and disk belong together."""
    record = Record(Subnet(0)).with_nodes(["one", "two"]).with_nodes(["two", "three"])
    assert record.nodes == {"one": 11, "two": 12, "three": 13}
    assert record.address("three") == "10.231.0.13"


def test_a_full_lab_is_said() -> None:
    """There is a last host number."""
    with pytest.raises(LabError, match="240 nodes"):
        free_number(range(11, 251))
