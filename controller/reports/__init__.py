"""What runners tell: reports in order, each once, and heartbeats.

Lives here: reading a report's events, moving placements by them, answering heartbeats, noticing
silence. May use: margrave, the store, the broker's wake-up. Never: decides what a runner should do;
the runner is the authority on its nodes, and what is unusual is recorded, not refused.
"""
