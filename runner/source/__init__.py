"""What the site should run, as Git says it: fetched, checked, and held back where in doubt.

Lives here: the clone, the reading of the site's subtree, component folders, signatures. May use
gitpython, `margrave` and `runner.ports`; no other room of the runner imports git.
Never changes a node or the database: it returns a Desired value, or says why it halts.
"""

from runner.source.clone import Access, Clone
from runner.source.components import Components
from runner.source.desired import SITE, Desired, Halted
from runner.source.source import Source

__all__ = ["SITE", "Access", "Clone", "Components", "Desired", "Halted", "Source"]
