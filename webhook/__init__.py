"""The door for Git pushes: a forge says "look", and nothing it says is believed beyond that.

Here: verifying the raw bytes, telling forges apart, mapping each payload to one small value.
May use: flask, margrave. Never: Git, the database, the network, any other room.
"""

from webhook.deliveries import Deliveries, Taken
from webhook.door import door
from webhook.push import Push
from webhook.repositories import Followed, names_one_of

__all__ = ["Deliveries", "Followed", "Push", "Taken", "door", "names_one_of"]
