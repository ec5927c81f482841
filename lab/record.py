"""What a lab remembers: its subnet, its base system, its nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.subnet import Subnet, free_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """Addresses and base stay for the life of the lab: its disks are layered over that base."""

    subnet: Subnet
    base: str = ""
    nodes: Mapping[str, int] = field(default_factory=dict)

    def with_nodes(self, names: Iterable[str]) -> Record:
        """The same with these nodes beside the ones there are, each with a number of its own."""
        nodes = dict(self.nodes)
        for name in names:
            if name not in nodes:
                nodes[name] = free_number(nodes.values())
        return replace(self, nodes=nodes)

    def with_base(self, base: str) -> Record:
        return self if self.base else replace(self, base=base)

    def address(self, node: str) -> str:
        return self.subnet.address(self.nodes[node])


def load(path: Path) -> Record | None:
    """None when there is no such lab."""
    try:
        value = json.loads(path.read_text())
        return Record(Subnet(int(value["subnet"])), str(value["base"]), dict(value["nodes"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{path}: not a lab's record",
            f"remove the lab: margrave lab down --name {path.parent.name}",
        ) from error


def save(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"subnet": record.subnet.index, "base": record.base, "nodes": dict(record.nodes)}
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(value, indent=2) + "\n")
    draft.replace(path)
