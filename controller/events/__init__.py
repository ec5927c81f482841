"""Telling everybody what has changed, as server-sent events.

Lives here: the broker that hands stored events and hints to open streams, and the text of a
stream. May use: margrave, flask, the store. Never: decides what an event is; whoever stores a
change stores its event in the same transaction and then wakes the broker.
"""
