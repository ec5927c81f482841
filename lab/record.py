"""What a lab remembers: its subnet, its base system, its nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lab.engines import Engine
from lab.errors import LabError
from lab.subnet import Subnet, free_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """Addresses, engines and bases stay for the life of the lab: disks are layered over a base."""

    subnet: Subnet
    bases: Mapping[Engine, str] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)
    engines: Mapping[str, Engine] = field(default_factory=dict)

    def with_nodes(self, names: Iterable[str], engine: Engine = Engine.PODMAN) -> Record:
        """The same with these nodes beside the ones there are, each with a number of its own."""
        nodes, engines = dict(self.nodes), dict(self.engines)
        for name in names:
            if name not in nodes:
                nodes[name] = free_number(nodes.values())
                engines[name] = engine
        return replace(self, nodes=nodes, engines=engines)

    def with_base(self, engine: Engine, base: str) -> Record:
        return self if engine in self.bases else replace(self, bases={**self.bases, engine: base})

    def engine(self, node: str) -> Engine:
        return self.engines[node]

    def address(self, node: str) -> str:
        return self.subnet.address(self.nodes[node])


def load(path: Path) -> Record | None:
    """None when there is no such lab."""
    try:
        return _read(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(
            f"{path}: not a lab's record",
            f"remove the lab: margrave lab down --name {path.parent.name}",
        ) from error


def _read(value: Any) -> Record:
    """A lab of podman nodes alone says nothing of engines: so wrote all labs before there were two.

    Whoever updates Margrave can so still remove, and use, the lab that stands.
    """
    nodes = {str(name): int(number) for name, number in value["nodes"].items()}
    told = value.get("engines", {})
    engines = {name: Engine(told.get(name, Engine.PODMAN)) for name in nodes}
    bases = {Engine(name): str(base) for name, base in value.get("bases", {}).items()}
    if value["base"]:
        bases[Engine.PODMAN] = str(value["base"])
    return Record(Subnet(int(value["subnet"])), bases, nodes, engines)


def _written(record: Record) -> dict[str, Any]:
    bases = dict(record.bases)
    return {
        "subnet": record.subnet.index,
        "base": bases.pop(Engine.PODMAN, ""),
        "bases": bases,
        "nodes": dict(record.nodes),
        "engines": {
            name: engine for name, engine in record.engines.items() if engine is not Engine.PODMAN
        },
    }


def save(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(_written(record), indent=2) + "\n")
    draft.replace(path)
