"""What people see in a browser.

Lives here: the pages, their templates, one style sheet and one small script. A page is whole
without the script, which only fetches it again when something has happened. May use: margrave,
flask, jinja2, the store's queries, the API's guard. Never: SQL, Git, a request to another host.
"""

from controller.pages.views import blueprint

__all__ = ["blueprint"]
