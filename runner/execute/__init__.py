"""Carrying operations to nodes: one module call each, many calls in one run of Ansible.

Here: the only use of ansible_runner, the environment and files of a run, what its events mean,
and the warm process that saves Ansible's start-up.
May use: margrave, runner.ports, ansible_runner, and of the collection what knows its code on a
node. Never: the store, Git, HTTP, or deciding anything.
"""

from runner.execute.executor import AnsibleExecutor

__all__ = ["AnsibleExecutor"]
