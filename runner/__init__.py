"""The site runner: reads what its site should run from Git and makes the site's nodes run it.

Lives here: `source/` (Git), `reconcile/` (ticks, policy), `execute/` (Ansible), `nodes/`
(registry, onboarding), `outbox/` (reports), `store/` (its own SQLite), `app.py` (the parts list).
May use `margrave` and `webhook`; ansible_runner only in `execute/`, gitpython only in `source/`,
paramiko only in `nodes/`, sqlalchemy only in `store/`. Never imports `controller`.
"""
