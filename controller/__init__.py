"""The centre: it knows the applications, takes requests, writes Git, and shows what came of them.

catalog/    app registries to database          admission/  is it allowed, what would happen
publish/    requests to commits, Git to rows     git_endpoint/ the repository over smart HTTP
store/      the only SQL                         api/ pages/ events/  what people and runners see
settings    its configuration                    app        where the parts are put together

May use: margrave, flask, sqlalchemy (store/), jinja2, GitPython (publish/, catalog/), webhook
(app.py). Never: the runner, Ansible, a node.
"""
