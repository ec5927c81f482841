"""The runner's own HTTP: health, metrics and status for machines, a plain page, the admin socket.

May use flask, `margrave`, `runner.ports`, `runner.store`. Never decides: each view calls one
function of the room that knows. The webhook's door is built in `webhook` and added by `app.py`.
"""
