"""The controller's belongings: made at first, backed up, restored, rebuilt.

Contents: `initial` (init), `admins`, `backup`, `restore` with `rewound` (sites that are ahead of
it) and `configuration`, `rebuild`, `accepting`. May use: margrave, the store, publish, catalog,
access. Never: Flask, click.
"""
