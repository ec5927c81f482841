"""The composition root: what the runner is made of, and how the parts are joined.

Lives here: the ground that all stand on, the work, the line to the controller, and the root that
joins them with the doors. May use every room of the runner and `webhook`. Decides nothing.
"""

from runner.app.root import Runner, build

__all__ = ["Runner", "build"]
