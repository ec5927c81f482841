"""What a call imports where the collection's code lies, told by the call's own first half."""

from __future__ import annotations

import shlex

from ansible_collections.margrave.edge.plugins.plugin_utils import node_code

# Each of them costs a call more to import than it has use for.
COSTLY = {"dataclasses", "dis", "http.client", "inspect", "socket", "tempfile", "typing"}
COSTLY |= {"urllib.parse"}
PACKAGE = ".".join(node_code.PACKAGE)
TOLD = f"import {PACKAGE}._compose_driver\nprint(*sys.modules)\nsys.exit()\n"


def command(python: str, kind: str) -> str:
    """Shell text that lists all modules that a call of this kind has when it begins its work."""
    text = (node_code.FIND + node_code.CALL).replace("PACKAGE", PACKAGE)
    words = [python, "-I", "-S", "-c", text.replace("call(given)\n", TOLD)]
    return shlex.join([*words, node_code.node_code().digest, kind])
