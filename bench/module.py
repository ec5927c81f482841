"""What a module costs before it works: bytes that travel, and Python's start on the node.

Told beside it: `python3 -c pass`, and ping of Ansible itself, which does nothing. Processor time of
the processes on the node is measured, so that a busy machine does not decide. The call that is
timed is refused at its first parameter: all is imported, nothing is done. Each operation is told
twice: as Ansible carries it, and called where the collection's code lies on the node.

    python -m bench.module [LAB]      a lab that is there; else one is made for it, and removed
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from base64 import b64decode, b64encode
from typing import Any, Final

from ansible.executor.module_common import modify_module
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader, module_loader
from ansible.template import Templar

from bench.figures import ROOT, keep
from lab import Lab

KINDS: Final = ("prefetch", "update", "rollback", "delete")
MODULES: Final = (
    "ansible.builtin.ping",
    *(f"margrave.edge.{name}" for name in ("node_info", "workload_info")),
    *(f"margrave.edge.workload_{kind}" for kind in KINDS),
)
PYTHON: Final = "/usr/bin/python3"
TURNS: Final = 20
REFUSED: Final = {"deployment": "no id"}
MORE: Final = {"name": "x", "application": "x", "revision": "x", "components": []}
# As Ansible tells a call beside its parameters; nothing is written to the node's system log.
SETTINGS: Final = {"check_mode": False, "diff": False, "no_log": True}


def payload(module: str) -> bytes:
    """The module as it is sent, parameters included."""
    found = module_loader.find_plugin_with_context(module)
    kind = module.rpartition("_")[2]
    arguments: dict[str, Any] = dict(REFUSED) if "workload" in module else {}
    arguments.update(MORE if kind in ("prefetch", "update") else {})
    built = modify_module(
        module_name=found.resolved_fqcn,
        module_path=found.plugin_resolved_path,
        module_args=arguments,
        templar=Templar(loader=DataLoader()),
        task_vars={"ansible_python_interpreter": "/usr/bin/python3"},
        module_compression="ZIP_DEFLATED",
    )
    data: bytes = built.b_module_data
    return data


def files(data: bytes) -> int:
    """How many files travel packed in it."""
    packed = max(re.findall(rb"[A-Za-z0-9+/=]{1000,}", data), key=len)
    return len(zipfile.ZipFile(io.BytesIO(b64decode(packed))).namelist())


def processor_seconds(lab: Lab, node: str, command: str) -> float:
    """Of one run on the node, on average."""
    loop = f"for i in $(seq {TURNS}); do {command} >/dev/null 2>&1; done; times"
    told = lab.ssh(node, f"bash -c '{loop}'", timeout=300).stdout.splitlines()[-1]
    spent = [
        60 * float(minutes) + float(rest) for minutes, rest in re.findall(r"(\d+)m([\d.]+)s", told)
    ]
    return sum(spent) / TURNS


def measure(lab: Lab, node: str) -> dict[str, Any]:
    """Bytes, files and processor time of each module."""
    bare = processor_seconds(lab, node, "python3 -c pass")
    found: dict[str, Any] = {"python3 -c pass": {"processor_ms": round(bare * 1000, 1)}}
    for module in MODULES:
        data = payload(module)
        lab.ssh(node, "cat > /tmp/module.py", input=data.decode())
        spent = processor_seconds(lab, node, "python3 /tmp/module.py")
        found[module] = {
            "kilobytes": round(len(data) / 1024, 1),
            "files": files(data),
            "processor_ms": round(spent * 1000, 1),
        }
    lab.ssh(node, "rm -f /tmp/module.py")
    return {**found, **direct(lab, node)}


def direct(lab: Lab, node: str) -> dict[str, Any]:
    """The same of calls where the code lies; it was sent before, once for all of them."""
    # Not above: Ansible's loader has to be the first to import a collection.
    from ansible_collections.margrave.edge.plugins.plugin_utils.node_code import node_code

    code = node_code()
    packed = b64encode(code.archive).decode()
    lab.ssh(node, f"base64 -d > /tmp/code && {code.lay(PYTHON)} < /tmp/code", input=packed)
    found: dict[str, Any] = {"the code, once": {"kilobytes": round(len(code.archive) / 1024, 1)}}
    for kind in KINDS:
        given = json.dumps({"params": {**REFUSED, **MORE}, "settings": SETTINGS})
        lab.ssh(node, "cat > /tmp/given.json", input=given)
        call = code.call(PYTHON, kind)
        lab.ssh(node, "cat > /tmp/call.sh", input=f"{call} < /tmp/given.json\n")
        spent = processor_seconds(lab, node, "sh /tmp/call.sh")
        found[f"{kind}, called where it lies"] = {
            "kilobytes": round(len(call + given) / 1024, 1),
            "processor_ms": round(spent * 1000, 1),
        }
    lab.ssh(node, "rm -f /tmp/code /tmp/call.sh /tmp/given.json")
    return found


def main() -> None:
    """Measure, print, keep."""
    init_plugin_loader([str(ROOT / "collections")])
    named = sys.argv[1] if len(sys.argv) > 1 else None
    lab = Lab(named or "bench-module")
    lab.up([] if named else ["node-1"])
    try:
        keep("module", {"modules": measure(lab, lab.nodes()[0].name)})
    finally:
        if named is None:
            lab.down()


if __name__ == "__main__":
    main()
