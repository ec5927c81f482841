"""Reading, rendering and planning beside what libyaml alone needs.

Bars: reading and checking 1,000 deployment documents <= 1.5 x the parser alone; rendering 10,000
<= 2 x the plain dump; planning a site with 1,000 deployments on 20 nodes <= 200 ms. Processor time
is measured, so that a busy machine does not decide; the best of five turns is kept for each side.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import yaml

from bench.figures import keep
from margrave.documents.deployment import Deployment, read_deployment, render
from margrave.lifecycle import Outcome, State
from margrave.placement import Node
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 5
NODES = 20
CAPABLE = {"architecture": "amd64", "cpus": 4, "memory": 2**32, "deployment_types": ["compose"]}


def document(number: int) -> dict[str, Any]:
    """A deployment as the controller writes it."""
    return {
        "id": str(uuid.UUID(int=number)),
        "metadata": {"name": f"shop-{number}", "namespace": "default", "deviceId": "harbor/*"},
        "spec": {
            "applicationId": "storefront",
            "deploymentProfile": {
                "type": "compose",
                "components": [
                    {
                        "name": "storefront",
                        "properties": {
                            "repository": "oci://registry.example/apps/storefront",
                            "revision": "1.0.0",
                            "timeout": "1m0s",
                        },
                        "x-margrave-extensions": {"source": "components/" + "ab" * 32},
                    }
                ],
            },
            "parameters": {
                "greeting": {
                    "value": f"hello from number {number}",
                    "targets": [{"pointer": "GREETING", "components": ["storefront"]}],
                }
            },
            "x-margrave-extensions": {"version": "1.0.0", "strategy": {"batch": "canary"}},
        },
    }


def best(work: Callable[[], object]) -> float:
    """Seconds of processor time in the best of some turns."""
    times = []
    for _ in range(TURNS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def site(documents: list[Deployment]) -> SiteView:
    """A site where one deployment in seven is to be updated."""
    old, new = "0" * 64, "1" * 64
    standing = tuple(
        Standing(
            one.id,
            f"n{node}",
            State.INSTALLED,
            Outcome.SUCCEEDED,
            one.name,
            release=new if (number + node) % 7 else old,
            good_release=new,
            wanted_release=new,
        )
        for number, one in enumerate(documents)
        for node in range(NODES)
    )
    nodes = tuple(Node(f"n{node}", capabilities=CAPABLE) for node in range(NODES))
    wanted = tuple(Wanted(one, new) for one in documents)
    return SiteView("harbor", datetime.now(UTC), wanted, standing, nodes)


def main() -> None:
    """Measure, print and keep."""
    values = [document(number) for number in range(10_000)]
    texts = [render(value) for value in values[:1000]]
    parser = best(lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts])
    reading = best(lambda: [read_deployment(text, "deployments/x.yaml") for text in texts])
    dump = best(lambda: [yaml.dump(value, Dumper=yaml.CSafeDumper) for value in values])
    rendering = best(lambda: [render(value) for value in values])
    view = site([read_deployment(text) for text in texts])
    planning = best(lambda: plan(view))
    keep(
        "documents",
        {
            "reading": {"parser": parser, "ours": reading, "ratio": reading / parser, "bar": 1.5},
            "rendering": {"dump": dump, "ours": rendering, "ratio": rendering / dump, "bar": 2.0},
            "planning": {"seconds": planning, "bar": 0.2, "steps": len(plan(view).steps)},
        },
    )


if __name__ == "__main__":
    main()
