"""Publishing: requests become commits, and what stands in Git becomes rows.

What lives here: the stages that a request goes through (`resolve`, `commit`, `index`, put together
by `publisher`), changes of sites (`sites`, `site_changes`, ahead of all else `emergency`), the
repository and commits (`repository`, `building`, `remote`, `mainline`), what a document becomes
(`rendering`, `changes`, `materials`), and the reader that makes Git's head known to the database.
May use: margrave, git, the store. Never: Flask. Every change is a function of the document as it
stands at the remote's head, applied again after a lost push; text is never merged.
"""

from controller.publish.publisher import Publisher
from controller.publish.repository import Repository
from controller.publish.sites import Sites

__all__ = ["Publisher", "Repository", "Sites"]
