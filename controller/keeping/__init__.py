"""The controller's belongings: made at first, kept safe, brought back.

What lives here: `initial` (init), `backup` (backup and restore), `rebuild`.
May use: margrave, the store, publish, catalog, access. Never: Flask, click.
"""
