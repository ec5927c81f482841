"""The deployments repository over smart HTTP: Git's own http-backend, with our doors around it.

What lives here: the Flask blueprint (`blueprint`), the program's running (`backend`), and the hook
that refuses documents with errors (`pre_receive`).
May use: margrave, flask, what publish knows of documents. Never: the store, commits.
"""

from controller.git_endpoint.routes import blueprint

__all__ = ["blueprint"]
