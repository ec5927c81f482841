"""`margrave deployment …`: what runs where, how it came to that, and how to change it."""

from margrave.cli.commands.deployment import change, logs, plan, read
from margrave.cli.commands.deployment.group import deployment

__all__ = ["change", "deployment", "logs", "plan", "read"]
