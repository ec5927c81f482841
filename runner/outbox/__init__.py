"""Tells the controller what happened, and hears from it what is to be looked at.

Lives here: the HTTP client of the controller, the sender of reports, heartbeats, the stream of
hints. May use `margrave`, `runner.ports` and `runner.store`. Never changes a placement: commands
are handed on. Without a controller everything waits here, in order, each once.
"""
