"""What people see in a browser.

Lives here: the pages, their templates, one style sheet, small scripts, and charts drawn as SVG.
Pages speak through the API's own table (`asking`): the same handlers, roles, rules and audit, so
nothing is on a page that the API cannot tell. A page is whole without scripts, which only fetch it
again when something has happened and check a form as one types.
May use: margrave, flask, jinja2, the API. Never: SQL, Git, a request to another host.
"""

from controller.pages.frame import told
from controller.pages.views import blueprint, compiled

__all__ = ["blueprint", "compiled", "told"]
