"""The site's nodes: bringing them in, taking them off, and how long they have been silent.

Here: the runner's own key, SSH with the login that an operator gives, what a node must have.
May use: margrave, runner.ports, paramiko, cryptography. Never: the store's tables (the registry is
handed in), Ansible, deciding what runs where.
"""

from runner.nodes.beats import Beats, Came, News
from runner.nodes.freshness import LastSigns, freshness, with_beacon
from runner.nodes.keys import own_key
from runner.nodes.ownership import Owner

__all__ = ["Beats", "Came", "LastSigns", "News", "Owner", "freshness", "own_key", "with_beacon"]
