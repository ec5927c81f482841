# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The collection's code on a node: sent once per boot, and from then on called by one command.

As a module that Ansible carries it is unpacked and compiled, Ansible's own part with it, at each
call: a quarter of what an update costs a node. Laid down, Python keeps it compiled. It is addressed
by its digest, so that controllers of several versions share a node without noticing each other.

For the actions of the workload modules and for the looks of a site's runner; imports no Ansible.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

NOT_THERE = 66  # the code has to be laid down first; nothing was done
NOT_HERE = 67  # this user, this folder or this Python is none for it; nothing was done

# An interpreter's path, and nothing that a shell would make something of.
PLAIN = re.compile(r"/[A-Za-z0-9_./+-]+")
PACKAGE = ("ansible_collections", "margrave", "edge", "plugins", "module_utils")

# Both programs begin so. Input is read in any case: who sends it must not find its pipe closed.
# Nothing is imported from a folder that somebody else owns, or could write to: /run is root's, and
# what lies below it for a user is the user's alone. Where there is none, there is no place.
FIND = """
import os, sys
given = sys.stdin.buffer.read()
os.umask(0o077)
user = os.geteuid()
base = "/run/user/%d" % user if user else "/run"
place = base + "/margrave-code"
code = os.path.join(place, sys.argv[1])
def ours(path):
    try:
        seen = os.lstat(path)
    except OSError:
        return False
    if seen.st_uid != user or seen.st_mode & 0o170077 != 0o040000:
        sys.exit(67)
    return True
if sys.version_info < (3, 9) or user and not ours(base):
    sys.exit(67)
"""

# What is imported here is all that the call needs, before it does anything. Nobody has to tidy up
# after a process that has answered.
CALL = """
if not (ours(place) and ours(code)):
    sys.exit(66)
sys.path.insert(0, code)
try:
    from PACKAGE._direct import of
    call = of(sys.argv[2])
except ImportError:
    sys.exit(66)
call(given)
sys.stdout.flush()
os._exit(0)
"""

# What is laid down is whole or not there. Of what others laid down one is left: a call of it may be
# at work, and be about to import what its engine needs. A draft is left to whoever is writing it,
# unless nobody can be any more.
LAY = """
import io, shutil, tempfile, time, zipfile
try:
    os.mkdir(place)
except FileExistsError:
    pass
if not ours(place):
    sys.exit(67)
draft = tempfile.mkdtemp(prefix=".", dir=place)
try:
    zipfile.ZipFile(io.BytesIO(given)).extractall(draft)
    os.rename(draft, code)
except OSError:
    shutil.rmtree(draft, ignore_errors=True)
old = time.time() - 600
seen = [(os.lstat(one).st_mtime, one.name, one.path) for one in os.scandir(place)]
others = sorted(one for one in seen if one[1] != sys.argv[1] and one[1][0] != ".")
drafts = [one for one in seen if one[1][0] == "." and one[0] < old]
for _, _, path in others[:-1] + drafts:
    shutil.rmtree(path, ignore_errors=True)
"""


@dataclass(frozen=True)
class NodeCode:
    """What is laid down, and the digest that it is called by."""

    digest: str
    archive: bytes

    def call(self, python: str, kind: str) -> str:
        """Shell text that makes a call of this kind; its parameters go to standard input."""
        return _text(python, FIND + CALL.replace("PACKAGE", ".".join(PACKAGE)), self.digest, kind)

    def lay(self, python: str) -> str:
        """Shell text that lays the code down; the archive goes to standard input."""
        return _text(python, FIND + LAY, self.digest)


def _text(python: str, program: str, *words: str) -> str:
    # Isolated: neither the folder where it starts nor a variable says what is imported.
    return f"{python} -I -c {shlex.join([program, *words])}"


@lru_cache(maxsize=1)
def node_code() -> NodeCode:
    """The code of this collection, as it was when it was first asked for."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), PACKAGE[-1])
    # Packages of the usual kind: any of these names that the node has besides is not looked at.
    files = {"/".join((*PACKAGE[:depth], "__init__.py")): b"" for depth in range(1, 6)}
    for name in sorted(os.listdir(folder)):
        if name.startswith("_") and name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as file:
                files["/".join((*PACKAGE, name))] = file.read()
    digest = hashlib.sha256()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            digest.update(f"{path} {len(content)}\n".encode() + content)
            # Quickly: each worker of Ansible may have to do it, and the line is short or local.
            archive.writestr(path, content, zipfile.ZIP_DEFLATED, compresslevel=1)
    return NodeCode(digest.hexdigest()[:16], buffer.getvalue())


def read(said: Mapping[str, Any]) -> dict[str, Any]:
    """The answer in what a command said, or what Ansible makes of a module that ended without."""
    for line in reversed(said["stdout"].splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            # Names that Ansible takes for its own are nobody's to set from a node.
            return {key: value for key, value in found.items() if not key.startswith("_ansible_")}
    return {
        "failed": True,
        "msg": "MODULE FAILURE: the call ended without an answer; see module_stderr and rc",
        "module_stdout": said["stdout"],
        "module_stderr": said["stderr"],
        "rc": said["rc"],
    }
