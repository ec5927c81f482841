"""Escape suite: hostile packages on real nodes, and ordinary ones that must keep running.

Packages are data (`hostile/`, `ordinary/`); `catalogue.py` reads them. Each hostile package goes
three ways: through the controller's admission, through a direct Git push that a runner reads, and
to the module by a plain playbook. `on_node.py` lists a whole node (files, mounts, processes, kernel
settings, devices, engine objects) before and after, and `differences.py` reports what changed
outside of the deployment's own objects. `python -m tests.escape` runs all of it and keeps the
figures.
"""
