"""What `margrave lint` knows: which reader a file has, and rules between documents.

Lives here: reading one document into findings, the rules of a deployments repository and of an app
registry. May use: margrave's documents and digests. Never: files; whoever has some hands in bytes.
"""

from margrave.linting.reading import Kind, Read, kind_in, kind_of, read

__all__ = ["Kind", "Read", "kind_in", "kind_of", "read"]
