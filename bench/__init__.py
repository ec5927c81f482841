"""Measurements against the bars of docs/quality.md: one command each, figures kept as JSON.

May use the standard library, httpx and the command; starts nothing but what it measures.
"""
