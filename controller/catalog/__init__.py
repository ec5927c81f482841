"""The catalogue: application packages of all sources, read, checked and kept by digest.

What lives here: where packages come from (`origin`, `trees`), what a package is (`packages`), and
the sync that brings them to the database (`sync`).
May use: margrave, GitPython, the store. Never: the deployments repository, Flask.
"""

from controller.catalog.sync import Catalog

__all__ = ["Catalog"]
