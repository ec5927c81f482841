"""A process that has Ansible in memory and forks for each run, and the way without it.

Here: `launch` (what ansible-runner starts), `serve` (the warm process), `keeper` (starts and ends
it). May use: ansible, in `serve` alone. Never: anything of the runner's state.
"""
