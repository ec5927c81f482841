"""Pushes of mutated documents and components through the controller's Git endpoint.

A token of one site pushes them; after each push a change of another site must be published and
shown in time. `python -m tests.push_fuzz` is the long form, `test_push_fuzz` the short one.
"""
