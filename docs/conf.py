"""How the documentation is built: `make docs`, and as a check in `make check`."""

from importlib.metadata import version as _version

project = "Margrave"
author = "The Margrave authors"
copyright = "The Margrave authors"  # noqa: A001 - Sphinx calls it so
release = version = _version("margrave")

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["examples/**"]
# A link to a heading is checked like a link to a page.
myst_heading_anchors = 3
myst_enable_extensions = ["fieldlist"]

html_theme = "furo"
html_title = "Margrave"
html_show_copyright = False
html_show_sphinx = False
