"""Measurements against the bars of docs/quality.md: one command each, figures kept as JSON.

May use the standard library, httpx, the command, and the rooms it measures; starts nothing else.
"""
