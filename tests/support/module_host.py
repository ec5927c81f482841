"""Calls modules as Ansible does, each in a process of its own, without starting Python each time.

    python -m tests.support.module_host

reads a line of JSON `{module, params}` and answers with the module's line; the process of a call is
a fork of this one, which has imported what all modules import.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

from ansible.module_utils import basic, urls  # noqa: F401 - imported here so that no fork has to

PLACE = "ansible_collections.margrave.edge.plugins.modules"


def _call(asked: dict[str, Any], answer: int) -> None:
    """In the fork: be the module; its answer goes where standard output leads."""
    os.dup2(answer, 1)
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": asked["params"]}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    importlib.import_module(f"{PLACE}.{asked['module']}").main()


def main() -> None:
    """Until the input ends."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _call(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        sys.stdout.write(" ".join(told.split("\n")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
