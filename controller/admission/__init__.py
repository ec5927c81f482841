"""Admission: is it allowed, what would happen, and into the queue.

What lives here: the bodies of requests (`bodies`), the plan of what would happen (`planning`), the
checks and the queue's door (`admission`).
May use: margrave, the store, and of publish the pure part that says what a change makes of a
document. Never: commits, Flask.
"""

from controller.admission.admission import Admission
from controller.admission.bodies import QueueFull

__all__ = ["Admission", "QueueFull"]
