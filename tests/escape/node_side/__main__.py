"""Full listing of a node as JSON: `python3 node_side.pyz '{"engine": …, "own": […], …}'`.

It is packed and runs on the node with the node's own Python. `own` are the ids of deployments under
test, `releases` maps their Helm releases to them, `marker` a text of the node that nobody may read.
Each part maps a name to a value that changes when the thing changes.
"""

from __future__ import annotations

import base64
import glob
import json
import os
import sys

import kernel
from cluster import Cluster
from engines import Engine


def main() -> None:
    """Print the listing."""
    asked = json.loads(sys.argv[1])
    own = asked["own"]
    if asked["engine"] == "kubernetes":
        engine = Cluster(asked["releases"])
    else:
        engine = Engine(asked["engine"], own)
    listing = {
        "files": dict(kernel.files("/")),
        "devices": dict(kernel.files("/dev")),
        "volumes": dict(engine.foreign_data()),
        "mounts": dict(kernel.mounts("self")),
        "processes": dict(kernel.processes(engine.spaces())),
        "sysctls": dict(kernel.sysctls()),
        "links": dict(kernel.links()),
        "cgroups": dict(kernel.cgroups()),
        "objects": dict(engine.objects()),
        "reach": dict(engine.reach()),
        "leaks": dict(leaks(engine, own, asked["marker"])),
    }
    json.dump(listing, sys.stdout)


def leaks(engine, own, marker: str):
    """Yield the places of the deployments under test that show the text nobody may read."""
    encoded = base64.b64encode(marker.encode()).decode()  # as Kubernetes shows what is in secrets
    for place, text in engine.shown():
        if marker in text or encoded in text:
            yield f"{place} shows it", 1
    for ident in own:
        for path in glob.glob(f"/var/lib/margrave/deployments/{ident}/**", recursive=True):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if marker.encode() in file.read(kernel.SMALL):
                        yield f"{path} holds it", 1


main()
