"""The demo: real nodes, a controller and two runners on one machine, told what to do by Git.

Lives here: starting and stopping them as processes, and their configuration. It speaks to them
only as a user would, over HTTP and the command `margrave`. May use the standard library and
`lab`; `cli.py` click and rich as well. Never imports controller, runner or the command's room.
"""
