"""The lab: real edge nodes, a registry and faults on one Linux machine.

Here lives all that makes, breaks, heals and removes lab nodes: booted Debian systems with an
address, a disk and sshd of their own, and one OCI registry per lab.
It may use the standard library and `margrave`'s errors and names; `cli.py` click and rich as well.
It never uses another room, and it leaves alone whatever is not named after a lab.
"""

from lab.engines import Engine
from lab.faults import Fault
from lab.fleet import Lab, all_labs
from lab.node import Node, State

__all__ = ["Engine", "Fault", "Lab", "Node", "State", "all_labs"]
